// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the frames carry.
#pragma once

#include "launch/link/frame.hpp"
#include "launch/link/output_policy.hpp"
#include "launch/map/node_map.hpp"
#include "launch/map/policy.hpp"
#include "launch/report/snapshot.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

// One program of the command line (several with ':').
struct AppContext {
    uint32_t ranks = 1;
    std::string path; // resolved; argv[0] stays as the user wrote it
    std::vector<std::string> argv;
    std::vector<std::string> env; // NAME=VALUE of --env, in order
    std::string directory;        // where its ranks start; empty: where mpiexec is
};

// How the daemons of other hosts are started. Empty for a job on this host.
struct TreePlan {
    std::vector<std::string> hosts;               // by node number, as the user wrote them
    std::vector<std::vector<std::string>> agents; // words of commands that start something on a host
    std::vector<uint32_t> agent_of;               // by node number; empty: the first one for all
    // By node number, the node that starts it, no_parent: mpiexec. Nodes are numbered as a walk through the
    // tree meets them. Empty: every process starts `width` others.
    std::vector<uint32_t> parents;
    std::string daemon;    // path of zipmpi-noded on all hosts
    std::string interface; // listen on this one only; empty: on all that are up
    uint32_t width = 0;    // how many daemons one process starts
    std::string job_id;

    static constexpr uint32_t no_parent = UINT32_MAX;
    [[nodiscard]] const std::vector<std::string>& agent(uint32_t node) const {
        return agents[agent_of.empty() ? 0 : agent_of[node]];
    }
};

// The same for all nodes: each daemon passes it on to those that it starts.
struct StartRequest {
    std::string job_id;
    uint32_t world_size = 0;
    NodeMap map;                       // which ranks are on which node
    std::vector<AppContext> apps;      // they follow each other in the ranks
    std::string directory;             // where the ranks start
    std::vector<std::string> base_env; // what all ranks inherit, foreign launchers' variables removed
    PlacementPolicy placement;         // its matrix_file stays with mpiexec: `talk` comes from it
    struct Talk { // what two ranks of one node say to each other, against what other pairs do
        uint32_t a = 0, b = 0, weight = 0;
    };
    std::vector<Talk> talk; // empty: cores go to ranks in the order of their numbers
    OutputPolicy output;
    bool pmix = false;
    bool flush_prompts = false; // somebody may answer: show an unfinished line of rank 0
    bool stdin_open = false;
    bool keep_going = false; // a rank that dies does not end the job
    TreePlan tree;
    std::string grid;                    // bridge::Grid as text; empty: one cluster
    std::vector<uint32_t> gateway_nodes; // where the gateways of the grid are, by their number

    [[nodiscard]] uint32_t app_of(uint32_t rank) const; // index into apps
};

std::string encode(const StartRequest& r);
bool decode(std::string_view bytes, StartRequest& out);

// From one node to another: a question for a key, or for all that a rank has put (PMIx), and its answer.
struct Routed {
    enum class Kind : uint32_t { ask_key = 1, key = 2, ask_modex = 3, modex = 4 } kind = Kind::ask_key;
    uint32_t from = 0, to = 0; // nodes
    std::string key;
    bool found = false;
    std::string value;
};

// What a node that is gone would have to say.
bool answer_for_lost(const Routed& question, Routed& answer);

std::string encode(const Routed& r);
bool decode(std::string_view bytes, Routed& out);

// A rank that ended badly. The first one decides how mpiexec ends.
struct Failure {
    uint32_t rank = 0;
    uint32_t exit_code = 1;
    bool by_signal = false; // more likely the cause than ranks elsewhere that gave up because of it
    std::string text;       // for stderr, complete; empty if the rank has said it all
};

std::string encode(const Failure& f);
bool decode(std::string_view bytes, Failure& out);

// What concerns all ranks of the job. Daemons send what they see or are told by a rank; mpiexec puts it in
// order and sends it to all daemons, which leave it in their node segments.
struct Event {
    enum class Kind : uint32_t {
        failed = 1,    // a rank is gone
        revoked = 2,   // a communicator must not be used any more
        agreement = 3, // up: what a rank says to an agreement; down: what it has come to
        lost = 4       // up: a rank cannot be reached by another one; down: it is to be ended
    } kind = Kind::failed;
    uint32_t rank = 0;      // that failed, is lost, or takes part
    uint32_t context = 0;   // of the communicator
    uint32_t number = 0;    // of the agreement on it
    uint32_t flags = 0;     // all that were said, bit by bit
    uint32_t value = 0;     // the largest that was said; the rank that has lost the other
    uint32_t failed = 0;    // down: ranks that had failed by then
    uint32_t exit_code = 0; // of a rank that failed
    bool by_signal = false;
    std::string text;    // for stderr
    std::string members; // of the communicator: runs of ranks as text, "0-3,7,9-12"
};

std::string encode(const Event& e);
bool decode(std::string_view bytes, Event& out);

std::string encode(const Snapshot& s);
bool decode(std::string_view bytes, Snapshot& out);

} // namespace zipmpi::launch
