// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/event_loop.hpp"

#include <sys/epoll.h>

namespace zipmpi::launch {

EventLoop::EventLoop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

EventLoop::Source EventLoop::add_source(Handler handler) {
    handlers_.push_back(std::move(handler));
    return static_cast<Source>(handlers_.size() - 1);
}

void EventLoop::watch(int fd, uint32_t events, Source source, uint32_t index) {
    epoll_event e{};
    e.events = events;
    e.data.u64 = uint64_t{static_cast<uint32_t>(source)} << 32 | index;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &e) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e);
}

void EventLoop::unwatch(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void EventLoop::wait(int timeout_ms) {
    epoll_event events[64];
    const int n = epoll_wait(epoll_.get(), events, 64, timeout_ms);
    for (int i = 0; i < n; ++i)
        handlers_[events[i].data.u64 >> 32](static_cast<uint32_t>(events[i].data.u64), events[i].events);
}

} // namespace zipmpi::launch
