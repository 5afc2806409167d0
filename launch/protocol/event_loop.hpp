// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waits for events on descriptors (epoll) and calls handlers. A handler serves one source of events, which
// may have several descriptors, told apart by an index. An event may arrive after its descriptor was closed
// in the same wait, so handlers check what they find.
#pragma once

#include "os/fd.hpp"

#include <cstdint>
#include <deque>
#include <functional>

namespace zipmpi::launch {

class EventLoop {
  public:
    using Handler = std::function<void(uint32_t index, uint32_t events)>;
    enum class Source : uint32_t {};

    EventLoop();
    [[nodiscard]] int fd() const { return epoll_.get(); } // readable: events are pending
    Source add_source(Handler handler);
    // Adds a descriptor, or changes the events to wait for. Without events errors are still reported;
    // unwatch() stops that.
    void watch(int fd, uint32_t events, Source source, uint32_t index = 0);
    void unwatch(int fd);
    void wait(int timeout_ms); // -1: until the first event

  private:
    os::Fd epoll_;
    std::deque<Handler> handlers_; // by source
};

} // namespace zipmpi::launch
