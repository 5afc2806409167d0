// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// While a function of the program runs, the engine is unlocked: it may call MPI.
#pragma once

#include "core/engine.hpp"

namespace zipmpi::core {

class Unlocked {
  public:
    Unlocked() { unlock_engine(); }
    ~Unlocked() { lock_engine(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
};

} // namespace zipmpi::core
