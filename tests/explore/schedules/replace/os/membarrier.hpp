// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// In place of src/os/membarrier.hpp.
#pragma once

#include "schedules.hpp"

namespace zipmpi::os {

inline bool register_for_barriers() noexcept { return true; }
inline void barrier_for_all() noexcept { explore::drain_all(); }

} // namespace zipmpi::os
