// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Keeps the communicator of a failed request or message until its error has been raised: the request may have
// been the last user, and the error is raised on that communicator's handler.
//
// Threads: per-thread state.
#pragma once

#include "core/object.hpp"

namespace zipmpi::core {

// Called before the request is destroyed, with the progress engine lock held. Null is allowed.
void retain_error_comm(Comm* comm);

// Holds the retained communicator while its error is raised. An error handler may itself cause errors and
// retain others.
class ErrorCommGuard {
  public:
    ErrorCommGuard() noexcept;
    ~ErrorCommGuard(); // takes the progress engine lock
    ErrorCommGuard(const ErrorCommGuard&) = delete;
    ErrorCommGuard& operator=(const ErrorCommGuard&) = delete;
    // The communicator on which to raise an error of a call on `comm`: `comm`, or the retained one if `comm`
    // was freed.
    [[nodiscard]] const Comm* resolve(const Comm* comm) const noexcept;

  private:
    Comm* comm_;
};

} // namespace zipmpi::core
