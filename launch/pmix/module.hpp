// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The boundary between the daemon and the module zipmpi_pmix_server.so, which holds all that knows libpmix.
#pragma once

#include <cstdint>

namespace zipmpi::launch {

struct PmixJob {
    const char* name; // the PMIx namespace
    const char* host;
    const char* scratch; // an own, empty directory
    uint32_t size;
    const uint32_t* app_numbers; // per rank
    uint32_t apps;
};

struct PmixEvent {
    enum class Kind : uint32_t { connected, finalized, abort } kind;
    uint32_t rank;
    int32_t status;
    char text[200];
};

struct PmixModule {
    // event is called on a thread of libpmix. False: no PMIx, the job goes on without.
    bool (*start)(const PmixJob& job, void (*event)(void* arg, const PmixEvent& e), void* arg);
    // Calls add(arg, "NAME=value") for each variable that this rank needs.
    bool (*rank_env)(uint32_t rank, void (*add)(void* arg, const char* name_value), void* arg);
};

using GetPmixModule = const PmixModule* (*)(); // exported as zipmpi_pmix_module

} // namespace zipmpi::launch
