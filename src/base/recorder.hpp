// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the flight recorder. Called at every MPI entry, so each function is a few relaxed stores.
#pragma once

#include "base/recorder_layout.hpp"

namespace zipmpi {

// The recorder of this process. Never null: private memory until the node segment is mapped.
[[gnu::visibility("hidden")]] extern Recorder* current_recorder;
inline Recorder& recorder() noexcept { return *current_recorder; }
void set_recorder(Recorder* in_segment) noexcept;

// A call that is over already.
[[gnu::always_inline]] inline void record_call(Recorder& r, uint32_t function, int32_t peer, int32_t tag,
                                               uint32_t context) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    const uint64_t n = r.call_count.load(relaxed);
    CallRecord& c = r.calls[n % recorder_calls];
    c.function.store(function, relaxed);
    c.peer.store(peer, relaxed);
    c.tag.store(tag, relaxed);
    c.context.store(context, relaxed);
    r.call_count.store(n + 1, relaxed);
}

inline void record_enter(Recorder& r, uint32_t function, int32_t peer, int32_t tag,
                         uint32_t context) noexcept {
    record_call(r, function, peer, tag, context);
    r.current_function.store(function, std::memory_order_relaxed);
}

inline void record_leave(Recorder& r) noexcept { r.current_function.store(0, std::memory_order_relaxed); }

// Names a communicator for reports; context 0 is ignored. If the table is full, the entry
// context % recorder_comms is replaced.
void record_comm_name(Recorder& r, uint32_t context, const char* name) noexcept;
void record_comm_freed(Recorder& r, uint32_t context) noexcept;

} // namespace zipmpi
