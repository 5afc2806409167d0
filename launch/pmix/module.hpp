// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The boundary between the daemon and the module zipmpi_pmix_server.so, which holds all that knows libpmix.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::launch {

struct PmixJob {
    const char* name;    // the PMIx namespace
    const char* scratch; // an own, empty directory
    uint32_t size;
    const uint32_t* app_numbers; // per rank
    uint32_t apps;
    const uint32_t* node_of;       // per rank
    const char* const* node_names; // one per node, all different
    uint32_t nodes;
    uint32_t own_node;
};

struct PmixEvent {
    enum class Kind : uint32_t { connected, finalized, abort, fence, modex } kind;
    uint32_t rank; // modex: somebody here wants what this rank, elsewhere, has put
    int32_t status;
    const char* text; // or null; valid during the call
    // fence: what the local ranks have put. The answer goes to PmixModule::answer with this cookie.
    const char* data;
    size_t size;
    void* cookie;
};

struct PmixModule {
    using Got = void (*)(void* arg, bool found, const char* data, size_t size);
    // event is called on a thread of libpmix. False: no PMIx, the job goes on without.
    bool (*start)(const PmixJob& job, void (*event)(void* arg, const PmixEvent& e), void* arg);
    // Calls add(arg, "NAME=value") for each variable that this rank needs.
    bool (*rank_env)(uint32_t rank, void (*add)(void* arg, const char* name_value), void* arg);
    void (*answer)(void* cookie, bool found, const char* data, size_t size);
    // What a local rank has put: got is called once, on a thread of libpmix, maybe after waiting for the
    // rank.
    void (*ask)(uint32_t rank, Got got, void* arg);
};

using GetPmixModule = const PmixModule* (*)(); // exported as zipmpi_pmix_module

} // namespace zipmpi::launch
