// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface between the daemon and the module zipmpi_pmix_server.so, which has all code that uses libpmix.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zipmpi::launch {

struct PmixJob {
    const char* name;    // the PMIx namespace
    const char* scratch; // an empty directory for this job
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
    uint32_t rank; // modex: a local process requests the data of this remote rank
    int32_t status;
    const char* text; // or null; valid during the call
    // fence: data of the local ranks. The reply goes to PmixModule::answer with this cookie.
    const char* data;
    size_t size;
    void* cookie;
};

struct PmixModule {
    using ModexHandler = void (*)(void* arg, bool found, const char* data, size_t size);
    // event is called on a thread of libpmix. Returns false if PMIx is not available; the job runs without
    // it.
    bool (*start)(const PmixJob& job, void (*event)(void* arg, const PmixEvent& e), void* arg);
    // Calls add(arg, "NAME=value") for each variable of this rank.
    bool (*rank_env)(uint32_t rank, void (*add)(void* arg, const char* name_value), void* arg);
    void (*reply)(void* cookie, bool found, const char* data, size_t size);
    // Data of a local rank: got is called once, on a thread of libpmix, possibly after waiting for the rank.
    void (*request_modex)(uint32_t rank, ModexHandler got, void* arg);
};

using GetPmixModule = const PmixModule* (*)(); // exported as zipmpi_pmix_module

} // namespace zipmpi::launch
