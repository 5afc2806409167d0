// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where this thread runs.
#pragma once

namespace zipmpi::os {

// Goes to the CPU of that number (modulo) among those it may run on, and may be moved from there by the
// kernel as before. Which one it is; -1: the kernel refuses.
int move_to_cpu(unsigned number) noexcept;

// Where it runs just now.
int current_cpu() noexcept;

} // namespace zipmpi::os
