// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Events of the engine for tools (MPI_T_event_*). Raised at points that are not on the path of short
// messages; without a tool that listens, an event costs one test. core/tool/events.cpp delivers them.
//
// Threads: raise() is called with the engine's lock; listen() by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace zipmpi::proto {

// In the order of core/tool/event_list.cpp.
enum class EventType : uint8_t {
    unexpected_message, // source, tag, bytes
    unexpected_match,   // source, tag, bytes
    send_queued,        // rank in MPI_COMM_WORLD, tag, bytes
    rendezvous_start,   // rank in MPI_COMM_WORLD, tag, bytes
    rendezvous_copy,    // source, bytes, RendezvousPath
    sleep,              // pending operations
    wakeup,             // nanoseconds asleep
    first_message,      // rank in MPI_COMM_WORLD
    rank_failed,        // rank in MPI_COMM_WORLD
    comm_revoked,       // context id
};
inline constexpr int event_types = 10;

enum class RendezvousPath : uint8_t { coop, arena, cma, fragments, network };

struct Event {
    static constexpr size_t max_elements = 3;
    EventType type{};
    std::array<int64_t, max_elements> elements{};
};

class EventSink {
  public:
    using Handler = void (*)(const Event& event);

    // types: bit mask of EventType; 0: none
    void listen(uint32_t types, Handler handler) {
        handler_.store(handler, std::memory_order_relaxed);
        types_.store(types, std::memory_order_release); // pairs with raise_to_handler()
    }

    [[nodiscard]] bool wants(EventType type) const {
        return (types_.load(std::memory_order_relaxed) & bit(type)) != 0;
    }
    [[gnu::always_inline]] void raise(EventType type, int64_t first, int64_t second = 0,
                                      int64_t third = 0) const {
        if (wants(type)) [[unlikely]]
            raise_to_handler({type, {first, second, third}});
    }

    static constexpr uint32_t bit(EventType type) { return 1U << static_cast<uint32_t>(type); }

  private:
    [[gnu::cold, gnu::noinline]] void raise_to_handler(const Event& event) const {
        if (types_.load(std::memory_order_acquire) != 0) handler_.load(std::memory_order_relaxed)(event);
    }

    std::atomic<uint32_t> types_{0};
    std::atomic<Handler> handler_{nullptr};
};

} // namespace zipmpi::proto
