// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/errhandler/kept_comm.hpp"

#include "core/comm/comm.hpp"
#include "core/engine.hpp"

namespace zipmpi::core {
namespace {

thread_local Comm* kept = nullptr; // counted

} // namespace

void keep_for_error(Comm* comm) {
    if (comm == nullptr) return;
    hold(*comm);
    if (kept != nullptr) release(*kept);
    kept = comm;
}

const Comm* comm_of_error(const Comm* comm) noexcept {
    return comm == nullptr || comm->cls != Class::none ? comm : kept;
}

void error_was_raised() noexcept {
    if (kept == nullptr) return;
    lock_engine();
    release(*kept);
    unlock_engine();
    kept = nullptr;
}

} // namespace zipmpi::core
