// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces src/os/membarrier.hpp.
#pragma once

#include "schedules.hpp"

namespace zipmpi::os {

inline bool register_membarrier() noexcept { return true; }
inline void global_membarrier() noexcept { explore::drain_all(); }

} // namespace zipmpi::os
