// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Generalized requests in the ABI binding: calls of the user callbacks.
#include "abi/custom.hpp"
#include "abi/errors.hpp"
#include "core/request/generalized.hpp"

namespace zipmpi::abi {
namespace {

Err query(void* function, void* extra_state, core::Status& status) {
    MPI_Status abi_status{};
    put_status(status, abi_status);
    const int code = reinterpret_cast<MPI_Grequest_query_function*>(function)(extra_state, &abi_status);
    status = get_status(abi_status);
    return any_err_of(code);
}

Err free_state(void* function, void* extra_state) {
    return any_err_of(reinterpret_cast<MPI_Grequest_free_function*>(function)(extra_state));
}

Err cancel(void* function, void* extra_state, bool complete) {
    return any_err_of(
        reinterpret_cast<MPI_Grequest_cancel_function*>(function)(extra_state, complete ? 1 : 0));
}

constexpr core::GeneralizedCalls calls{query, free_state, cancel};

} // namespace

namespace custom {

Err grequest_start(void* query_function, void* free_function, void* cancel_function, void* extra_state,
                   core::Request*& request) {
    return core::grequest_start({query_function, free_function, cancel_function, extra_state, &calls},
                                request);
}

Err grequest_complete(core::Request& request) { return core::grequest_complete(request); }

} // namespace custom
} // namespace zipmpi::abi
