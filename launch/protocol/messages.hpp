// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Payloads of control frames.
#pragma once

#include "launch/placement/node_map.hpp"
#include "launch/placement/placement_policy.hpp"
#include "launch/placement/rank_ranges.hpp"
#include "launch/protocol/control_frame.hpp"
#include "launch/protocol/output_policy.hpp"
#include "launch/report/counter_totals.hpp"
#include "launch/report/snapshot.hpp"
#include "launch/report/stacks.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

// One program of the command line (':' separates several).
struct AppContext {
    uint32_t ranks = 1;
    std::string path; // resolved; argv[0] as the user wrote it
    std::vector<std::string> argv;
    std::vector<std::string> env; // NAME=VALUE of --env, in order
    std::string directory;        // working directory of its ranks; empty: that of mpiexec
};

// How daemons of other hosts are started. Empty for a job on this host.
struct LaunchTree {
    // As written by the user, from node first_host on: of all nodes, in a daemon only of its subtree.
    std::vector<std::string> hosts;
    uint32_t first_host = 0;
    uint32_t all_nodes = 0;                       // 0: hosts has all
    std::vector<std::vector<std::string>> agents; // words of launch agent commands
    std::vector<uint32_t> agent_of;               // by node number; empty: the first one for all
    // By node number: the node that starts it, or no_parent for mpiexec. Nodes are numbered in pre-order of
    // the tree. Empty: every process starts `fanout` daemons.
    std::vector<uint32_t> parents;
    std::string daemon;       // path of zipmpi-noded on the other hosts
    std::string local_daemon; // path of zipmpi-noded on the host of mpiexec
    std::string interface;    // interface to listen on; empty: all that are up
    uint32_t fanout = 0;      // number of daemons that one process starts
    std::string job_id;

    static constexpr uint32_t no_parent = UINT32_MAX;
    [[nodiscard]] uint32_t nodes() const {
        return all_nodes != 0 ? all_nodes : static_cast<uint32_t>(hosts.size());
    }
    [[nodiscard]] const std::string& host(uint32_t node) const { return hosts[node - first_host]; }
    [[nodiscard]] bool has_hosts(uint32_t first, uint32_t end) const {
        return first >= first_host && end <= first_host + hosts.size();
    }
    [[nodiscard]] const std::vector<std::string>& agent(uint32_t node) const {
        return agents[agent_of.empty() ? 0 : agent_of[node]];
    }
};

// Description of the job, identical on all nodes but for the names of hosts: each daemon forwards it to the
// daemons that it starts.
struct StartRequest {
    std::string job_id;
    uint32_t world_size = 0;
    NodeMap map;                       // which ranks are on which node
    std::vector<AppContext> apps;      // in the order of ranks
    std::string directory;             // working directory of the ranks
    std::vector<std::string> base_env; // inherited by all ranks, without variables of other launchers
    PlacementPolicy placement;         // matrix_file is used by mpiexec only, which fills `traffic` from it
    struct TrafficPair {               // traffic of two ranks of one node, relative to other pairs
        uint32_t a = 0, b = 0, weight = 0;
    };
    std::vector<TrafficPair> traffic; // empty: cores are assigned in the order of ranks
    OutputPolicy output;
    bool pmix = false;
    bool flush_prompts = false; // interactive: show an unfinished line of rank 0
    bool stdin_open = false;
    bool keep_going = false; // the job survives the death of a rank
    bool hold = false;       // ranks wait in MPI_Init until a debugger has seen them
    LaunchTree tree;
    std::string cluster_map;             // bridge::ClusterMap as text; empty: one cluster
    std::vector<uint32_t> gateway_nodes; // nodes of the gateways, by gateway number

    [[nodiscard]] uint32_t app_of(uint32_t rank) const; // index into apps
};

std::string encode(const StartRequest& r);
// For the daemon that has these nodes: with the names of their hosts only, unless PMIx needs all.
std::string encode(const StartRequest& r, uint32_t first_node, uint32_t end_node);
bool decode(std::string_view bytes, StartRequest& out);

// Message between nodes: a request for a key or for all data of a rank (PMIx), or the reply.
struct RoutedMessage {
    enum class Kind : uint32_t {
        get_key = 1,
        key_reply = 2,
        get_modex = 3,
        modex_reply = 4
    } kind = Kind::get_key;
    uint32_t from = 0, to = 0; // nodes
    std::string key;
    bool found = false;
    std::string value;
};

// Reply on behalf of a node that has failed.
bool make_failed_reply(const RoutedMessage& request, RoutedMessage& reply);

std::string encode(const RoutedMessage& r);
bool decode(std::string_view bytes, RoutedMessage& out);

// Abnormal exit of a rank. The first one decides the exit status of mpiexec.
struct Failure {
    uint32_t rank = 0;
    uint32_t exit_code = 1;
    bool by_signal = false; // more likely the cause than exits elsewhere
    std::string text;       // for stderr, complete; empty if the rank has printed a message
};

std::string encode(const Failure& f);
bool decode(std::string_view bytes, Failure& out);

// Event that concerns all ranks of the job. Daemons send what they or their ranks detect; mpiexec orders the
// events and sends them to all daemons, which store them in their node segments.
struct JobEvent {
    enum class Kind : uint32_t {
        failed = 1,     // ranks have failed
        revoked = 2,    // a communicator has been revoked
        agreement = 3,  // up: contribution of ranks; down: result
        unreachable = 4 // up: a rank cannot reach another one; down: that rank is terminated
    } kind = Kind::failed;
    RankRanges ranks;       // failed; up: that contribute
    RankRanges members;     // up: of the communicator
    uint32_t rank = 0;      // unreachable
    uint32_t context = 0;   // of the communicator
    uint32_t number = 0;    // of the agreement on it
    uint32_t flags = 0;     // bitwise AND of the contributions
    uint32_t value = 0;     // largest contribution; the rank that reports another as unreachable
    uint32_t failed = 0;    // down: number of ranks that had failed before
    uint32_t exit_code = 0; // of a rank that failed
    bool by_signal = false;
    std::string text; // for stderr
};

std::string encode(const JobEvent& e);
bool decode(std::string_view bytes, JobEvent& out);

std::string encode(const Snapshot& s);
bool decode(std::string_view bytes, Snapshot& out);

// The ranks of a node for `zipmpi top --all-hosts`.
struct HostView {
    std::string host;
    Snapshot ranks;
    std::vector<CounterTotals> totals; // of the same ranks
};

std::string encode(const HostView& view);
bool decode(std::string_view bytes, HostView& out);

std::string encode(const HostStacks& stacks);
bool decode(std::string_view bytes, HostStacks& out);

} // namespace zipmpi::launch
