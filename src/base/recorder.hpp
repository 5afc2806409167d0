// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writing the flight recorder. Called at every MPI entry, so each function is a handful of plain stores.
#pragma once

#include "base/recorder_layout.hpp"

namespace zipmpi {

// The recorder of this process: a private page until the node segment is mapped, so it is never null.
extern Recorder* current_recorder;
inline Recorder& recorder() noexcept { return *current_recorder; }
void set_recorder(Recorder* in_segment) noexcept;

inline void record_enter(Recorder& r, uint32_t function, int32_t peer, int32_t tag,
                         uint32_t context) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    const uint64_t n = r.call_count.load(relaxed);
    CallRecord& c = r.calls[n % recorder_calls];
    c.function.store(function, relaxed);
    c.peer.store(peer, relaxed);
    c.tag.store(tag, relaxed);
    c.context.store(context, relaxed);
    r.call_count.store(n + 1, relaxed);
    r.inside.store(function, relaxed);
}

inline void record_leave(Recorder& r) noexcept { r.inside.store(0, std::memory_order_relaxed); }

// Names a communicator for the reports; context 0 is ignored. The oldest name gives way when the table is
// full.
void record_comm_name(Recorder& r, uint32_t context, const char* name) noexcept;
void record_comm_gone(Recorder& r, uint32_t context) noexcept;

} // namespace zipmpi
