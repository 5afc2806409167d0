// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Error of a pending operation of a window, which the next synchronization returns.
#pragma once

#include "base/err.hpp"

#include <utility>

namespace zipmpi::proto::rma {

class DeferredError {
  public:
    void set(Err error) { error_ = error; }
    [[nodiscard]] bool is_set() const { return error_ != Err::success; }
    // Returns and clears the error.
    [[nodiscard]] Err take() { return std::exchange(error_, Err::success); }

  private:
    Err error_ = Err::success;
};

} // namespace zipmpi::proto::rma
