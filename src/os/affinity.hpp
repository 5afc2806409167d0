// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// CPU of the calling thread.
#pragma once

namespace zipmpi::os {

// Migrates this thread to the allowed CPU with index `number` modulo the number of allowed CPUs, without
// binding it there. Returns the CPU, or -1 if the kernel refuses.
int migrate_to_cpu(unsigned number) noexcept;

int current_cpu() noexcept;

} // namespace zipmpi::os
