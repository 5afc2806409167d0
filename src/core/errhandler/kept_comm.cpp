// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/errhandler/kept_comm.hpp"

#include "core/comm/comm.hpp"
#include "core/engine.hpp"

#include <utility>

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

KeptComm::KeptComm() noexcept
    : comm_(std::exchange(kept, nullptr)) {}

KeptComm::~KeptComm() {
    if (comm_ == nullptr) return;
    lock_engine();
    release(*comm_);
    unlock_engine();
}

const Comm* KeptComm::of_error(const Comm* comm) const noexcept {
    return comm == nullptr || comm->cls != Class::none ? comm : comm_;
}

} // namespace zipmpi::core
