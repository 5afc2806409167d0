// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/unsupported.hpp"

#include "abi/entry.hpp"
#include "names/function_table.hpp"

namespace zipmpi::abi {
namespace {

Err not_implemented(uint32_t function) noexcept {
    return fail(Err::unsupported_operation,
                "see `zipmpi info --coverage --missing` for the functions that are not implemented",
                "%s is not implemented in this version of ZipMPI", names::function(function).name);
}

int unsupported_on(uint32_t function, bool anytime, const core::Comm* comm,
                   const core::Session* session) noexcept {
    Entry entry{function};
    entry.comm = comm;
    entry.session = session;
    if (anytime || entry.running()) entry.err = not_implemented(function);
    return entry.raise();
}

} // namespace

int unsupported(uint32_t function, bool anytime) noexcept {
    return unsupported_on(function, anytime, nullptr, nullptr);
}

int unsupported(uint32_t function, bool anytime, MPI_Comm comm) noexcept {
    return unsupported_on(function, anytime, find<core::Comm>(comm), nullptr);
}

int unsupported(uint32_t function, bool anytime, MPI_Session session) noexcept {
    return unsupported_on(function, anytime, nullptr, find<core::Session>(session));
}

} // namespace zipmpi::abi
