// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Releases the progress engine lock while a user callback runs, because the callback may call MPI.
#pragma once

#include "core/runtime.hpp"

namespace zipmpi::core {

class RuntimeUnlockGuard {
  public:
    RuntimeUnlockGuard() { unlock_runtime(); }
    ~RuntimeUnlockGuard() { lock_runtime(); }
    RuntimeUnlockGuard(const RuntimeUnlockGuard&) = delete;
    RuntimeUnlockGuard& operator=(const RuntimeUnlockGuard&) = delete;
};

} // namespace zipmpi::core
