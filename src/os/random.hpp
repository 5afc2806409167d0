// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cryptographically secure random bytes from the kernel.
#pragma once

#include <cstddef>

namespace zipmpi::os {

// Returns false if neither the system call nor /dev/urandom is available.
[[nodiscard]] bool fill_random(void* bytes, size_t size) noexcept;

} // namespace zipmpi::os
