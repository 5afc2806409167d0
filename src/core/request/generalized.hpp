// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Generalized requests: user-defined operations behind an MPI request. The callbacks have the ABI's types;
// core calls them through the functions below, without the progress engine lock because they may call MPI.
#pragma once

#include "core/api/common.hpp"

namespace zipmpi::core {

struct GeneralizedCalls {
    Err (*query)(void* function, void* extra_state, Status& status);
    Err (*free)(void* function, void* extra_state);
    Err (*cancel)(void* function, void* extra_state, bool complete);
};

struct GeneralizedFunctions {
    void* query = nullptr;
    void* free = nullptr;
    void* cancel = nullptr;
    void* extra_state = nullptr;
    const GeneralizedCalls* calls = nullptr;
};

Err grequest_start(const GeneralizedFunctions& functions, Request*& request);
Err grequest_complete(Request& request);

} // namespace zipmpi::core
