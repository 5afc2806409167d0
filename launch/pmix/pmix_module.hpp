// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Interface between the daemon and the module zipmpi_pmix_server.so, which has all code that uses libpmix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

struct PmixRequest; // of a local process; waits for PmixModule::reply

struct PmixEvent {
    enum class Kind : uint32_t { connected, finalized, abort, fence, modex } kind;
    uint32_t rank; // modex: a local process requests the data of this remote rank
    int32_t status;
    const char* text; // or null; valid during the call
    const char* data; // fence: data of the local ranks
    size_t size;
    PmixRequest* request; // fence, modex
};

class PmixListener {
  public:
    virtual void on_event(const PmixEvent& e) = 0; // called on a thread of libpmix

  protected:
    PmixListener() = default;
    PmixListener(const PmixListener&) = default;
    PmixListener& operator=(const PmixListener&) = default;
    ~PmixListener() = default;
};

struct PmixModule {
    using ModexHandler = std::function<void(bool found, const char* data, size_t size)>;
    // Returns false if PMIx is not available; the job runs without it.
    bool (*start)(const PmixJob& job, PmixListener& listener);
    // Adds the variables of this rank.
    bool (*rank_env)(uint32_t rank, std::vector<std::string>& variables);
    void (*reply)(PmixRequest* request, bool found, const char* data, size_t size);
    // Data of a local rank: got is called once, on a thread of libpmix, possibly after waiting for the rank.
    void (*request_modex)(uint32_t rank, ModexHandler got);
};

// The name changes with this interface.
inline constexpr const char* pmix_module_symbol = "zipmpi_pmix_module_2";
using GetPmixModule = const PmixModule* (*)();

} // namespace zipmpi::launch
