// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes that nobody can guess, from the kernel.
#pragma once

#include <cstddef>

namespace zipmpi::os {

// False: neither the system call nor /dev/urandom gives any.
[[nodiscard]] bool fill_random(void* bytes, size_t size) noexcept;

} // namespace zipmpi::os
