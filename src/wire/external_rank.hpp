// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// External ranks: ids of processes of other jobs, local to each process and above all ranks of the job. And
// the contexts of communicators that such processes are in.
#pragma once

#include <cstdint>

namespace zipmpi::wire {

inline constexpr int first_external = 1 << 28;
inline constexpr bool is_external(int world_rank) { return world_rank >= first_external; }

// Set in the contexts of all communicators that were created after a process was connected to another job;
// never in those of MPI_COMM_WORLD and of communicators created before.
inline constexpr uint32_t interjob_context_bit = 1U << 30;

} // namespace zipmpi::wire
