// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/errhandler/error_comm.hpp"

#include "core/comm/comm.hpp"
#include "core/runtime.hpp"

#include <utility>

namespace zipmpi::core {
namespace {

thread_local Comm* error_comm = nullptr; // reference-counted

} // namespace

void retain_error_comm(Comm* comm) {
    if (comm == nullptr) return;
    add_ref(*comm);
    if (error_comm != nullptr) release(*error_comm);
    error_comm = comm;
}

ErrorCommGuard::ErrorCommGuard() noexcept
    : comm_(std::exchange(error_comm, nullptr)) {}

ErrorCommGuard::~ErrorCommGuard() {
    if (comm_ == nullptr) return;
    lock_runtime();
    release(*comm_);
    unlock_runtime();
}

const Comm* ErrorCommGuard::resolve(const Comm* comm) const noexcept {
    return comm == nullptr || comm->cls != ObjectKind::none ? comm : comm_;
}

} // namespace zipmpi::core
