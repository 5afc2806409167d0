// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Identity of this process in its job, and the connection to the launcher. start() detects the launcher from
// the environment, uses its protocol, and fills a Job; join_segment() maps the node segment. The protocols
// are in native_launcher.cpp, pmi1.cpp, pmi2.cpp, pmix/ and singleton.cpp.
//
// Threads: not thread-safe; called under the initialization lock of the library.
#pragma once

#include "base/diagnostic.hpp"
#include "segment/node_segment.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::boot {

enum class Protocol { mpiexec, pmix, pmi2, pmi1, singleton };
std::string_view
protocol_name(Protocol p) noexcept; // "zipmpi mpiexec", "PMIx", "PMI-2", "PMI-1", "singleton"

// Connection to the launcher. Keys and values are text without blanks, ';' or '='; values have up to
// value_limit bytes.
class Launcher {
  public:
    static constexpr size_t value_limit = 1024;
    virtual ~Launcher() = default;
    virtual bool put(std::string_view key, std::string_view value) = 0;
    virtual bool get(int from_rank, std::string_view key,
                     std::string& value) = 0; // after a fence that followed the put
    virtual bool fence() = 0; // over all ranks of the job; makes puts visible without collecting data
    // Aborts the job. Returns only if the launcher cannot do it.
    virtual void abort(int exit_code, std::string_view text) = 0;
    // Sends a one-way message in the protocol of ZipMPI's mpiexec. Returns false under other launchers.
    virtual bool notify(std::string_view) { return false; }
    // Id shared by the ranks of one node; -1: not reported by the launcher.
    virtual int64_t node_of(int) { return -1; }
    virtual void finalize() = 0; // the rank has called MPI_Finalize; exit without it counts as a failure
};

struct Job {
    Protocol protocol = Protocol::singleton;
    std::string how; // reason for the protocol, "PMI_FD=7 in the environment", for `zipmpi info`
    std::string id;  // unique per job on this host
    int rank = 0;
    int size = 1;
    int app_number = -1;    // MPI_APPNUM, -1 = not known
    int universe_size = -1; // MPI_UNIVERSE_SIZE, -1 = not known
    // World ranks on this node, ascending, including this one. Empty with ZipMPI's mpiexec: the ranks of the
    // node share this list in the segment.
    std::vector<int> node_ranks;
    std::string mapping;                // PMI_process_mapping, empty if not available
    int local_index = 0;                // position of this rank among those on this node
    std::unique_ptr<Launcher> launcher; // null for a singleton
};

// environ_like: null-terminated "NAME=value" strings. Returns false with `why` filled in on failure; the
// caller prints it and exits with a nonzero status.
bool start(const char* const* environ_like, Job& job, Diagnostic& why);

// Nodes of a multi-node job as reported by the launcher; does not set the key.
bool find_nodes(const Job& job, segment::NodeTable& nodes, Diagnostic& why);

// Maps the segment of this node: inherited from ZipMPI's mpiexec, else created by the first rank of the node
// and passed to the others over an abstract Unix socket with uid check.
bool join_segment(Job& job, segment::NodeSegment& segment, Diagnostic& why);

} // namespace zipmpi::boot
