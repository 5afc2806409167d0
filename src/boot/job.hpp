// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who am I, and who are my peers. start() recognises the launcher from the environment, speaks its protocol,
// and gives back a Job; join_segment() gives the ranks of a host their segment. The protocols are in
// mpiexec.cpp, pmi1.cpp, pmi2.cpp, pmix/ and singleton.cpp.
//
// Threads: called under the library's initialisation lock; not thread safe by itself.
#pragma once

#include "base/problem.hpp"
#include "boot/node_segment.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::boot {

enum class Protocol { mpiexec, pmix, pmi2, pmi1, singleton };
std::string_view
protocol_name(Protocol p) noexcept; // "zipmpi mpiexec", "PMIx", "PMI-2", "PMI-1", "singleton"

// A connection to the launcher. Keys and values are text without blanks, ';' or '='; values up to value_limit
// bytes.
class Launcher {
  public:
    static constexpr size_t value_limit = 1024;
    virtual ~Launcher() = default;
    virtual bool put(std::string_view key, std::string_view value) = 0;
    virtual bool get(int from_rank, std::string_view key,
                     std::string& value) = 0; // after a fence that followed the put
    virtual bool fence() = 0; // all ranks of the job; makes what was put visible; collects nothing
    // Ends the whole job. Returns only if the launcher cannot do it.
    virtual void abort(int exit_code, std::string_view text) = 0;
    // Tells the launcher something that it need not answer, in words of our mpiexec. False: it is another.
    virtual bool tell(std::string_view) { return false; }
    // A number that ranks of one node have in common, or -1: the launcher does not say.
    virtual int64_t node_of(int) { return -1; }
    virtual void finalize() = 0; // the rank has left MPI; exit without it counts as a failure
};

struct Job {
    Protocol protocol = Protocol::singleton;
    std::string how; // why this protocol: "PMI_FD=7 in the environment", for `zipmpi info`
    std::string id;  // unique per job on this host
    int rank = 0;
    int size = 1;
    int app_number = -1;                // MPI_APPNUM, -1 = not known
    int universe_size = -1;             // MPI_UNIVERSE_SIZE, -1 = not known
    std::vector<int> node_ranks;        // world ranks on this node, ascending, including this one
    std::string mapping;                // PMI_process_mapping, if the launcher has one
    int local_index = 0;                // position of this rank in node_ranks
    std::unique_ptr<Launcher> launcher; // null for a singleton
};

// environ_like: null-terminated "NAME=value" strings. False: why is filled with a text that names both sides
// and the remedy; the caller prints it and ends the process with a non-zero status.
bool start(const char* const* environ_like, Job& job, Problem& why);

// The nodes of a job that spans several, from what the launcher says. The key is left out.
bool find_nodes(const Job& job, Nodes& nodes, Problem& why);

// The segment of this node: inherited from our mpiexec, else made by the first rank of the node and passed to
// the others over an abstract Unix socket whose peers' uid is checked.
bool join_segment(Job& job, NodeSegment& segment, Problem& why);

} // namespace zipmpi::boot
