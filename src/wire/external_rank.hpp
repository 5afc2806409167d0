// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// External ranks: ids of processes of other jobs, local to each process and above all ranks of the job.
#pragma once

namespace zipmpi::wire {

inline constexpr int first_external = 1 << 28;
inline constexpr bool is_external(int world_rank) { return world_rank >= first_external; }

} // namespace zipmpi::wire
