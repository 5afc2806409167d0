// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Processes of other jobs have numbers of their own in each process, far above the ranks of the job.
#pragma once

namespace zipmpi::wire {

inline constexpr int first_foreign = 1 << 28;
inline constexpr bool is_foreign(int world_rank) { return world_rank >= first_foreign; }

} // namespace zipmpi::wire
