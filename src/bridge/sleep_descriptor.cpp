// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/sleep_descriptor.hpp"

#include "os/clock.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace zipmpi::bridge {

SleepDescriptor::SleepDescriptor()
    : epoll_(epoll_create1(EPOLL_CLOEXEC))
    , timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

bool SleepDescriptor::open() { return add(timer_.get()); }

bool SleepDescriptor::add(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

// A timer that expires too early is left as it is: setting it is a system call, and it expires only once.
bool SleepDescriptor::set_timer(uint64_t due) {
    constexpr uint64_t second = 1'000'000'000;
    const uint64_t now = os::now_ns();
    if (due <= now) return false;
    if (timer_ns_ > now && timer_ns_ <= due) return true;
    if (due == ~uint64_t{0} && timer_ns_ == 0) return true;
    itimerspec when{};
    timer_ns_ = due == ~uint64_t{0} ? 0 : due;
    when.it_value.tv_sec = static_cast<time_t>(timer_ns_ / second);
    when.it_value.tv_nsec = static_cast<long>(timer_ns_ % second);
    return timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr) == 0;
}

} // namespace zipmpi::bridge
