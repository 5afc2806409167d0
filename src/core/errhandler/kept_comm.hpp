// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The communicator of a request or message that has failed, kept until its error was raised: the request may
// have been its last user, and the error still belongs to its handler.
//
// Threads: each has its own.
#pragma once

#include "core/object.hpp"

namespace zipmpi::core {

// Before the request is destroyed; under the engine lock. Null is fine.
void keep_for_error(Comm* comm);

// The kept one while its error is raised. An error handler may have errors of its own, and keep others.
class KeptComm {
  public:
    KeptComm() noexcept;
    ~KeptComm(); // takes the engine lock
    KeptComm(const KeptComm&) = delete;
    KeptComm& operator=(const KeptComm&) = delete;
    // Where an error of a call on that communicator goes: there, or to the one that is kept if it has ended.
    [[nodiscard]] const Comm* of_error(const Comm* comm) const noexcept;

  private:
    Comm* comm_;
};

} // namespace zipmpi::core
