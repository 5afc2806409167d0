// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Descriptors that are polled together, each with a kind and an index.
#pragma once

#include "os/fd.hpp"

#include <cstdint>
#include <sys/epoll.h>

namespace zipmpi::transport::tcp {

struct EventSource {
    enum Kind : uint8_t { engine, listener, stream, pending };
    Kind kind;
    uint64_t index = 0;
};

class EventPoll {
  public:
    static constexpr int max_events = 64;
    using Events = epoll_event[max_events];

    bool open() {
        epoll_ = os::Fd(epoll_create1(EPOLL_CLOEXEC));
        return static_cast<bool>(epoll_);
    }
    [[nodiscard]] bool is_open() const { return static_cast<bool>(epoll_); }
    [[nodiscard]] int descriptor() const { return epoll_.get(); }
    bool add(int fd, EventSource source, uint32_t events) { return set(EPOLL_CTL_ADD, fd, source, events); }
    bool change(int fd, EventSource source, uint32_t events) {
        return set(EPOLL_CTL_MOD, fd, source, events);
    }
    int poll(Events& events) { return epoll_wait(epoll_.get(), events, max_events, 0); }
    static EventSource source_of(const epoll_event& event) {
        const uint64_t key = event.data.u64;
        return {static_cast<EventSource::Kind>(key >> kind_shift), key & ((uint64_t{1} << kind_shift) - 1)};
    }

  private:
    static constexpr unsigned kind_shift = 56;

    bool set(int how, int fd, EventSource source, uint32_t events) {
        epoll_event e{};
        e.events = events;
        e.data.u64 = uint64_t{source.kind} << kind_shift | source.index;
        return epoll_ctl(epoll_.get(), how, fd, &e) == 0;
    }

    os::Fd epoll_;
};

} // namespace zipmpi::transport::tcp
