// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the frames carry.
#pragma once

#include "launch/link/frame.hpp"
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
};

struct StartRequest {
    std::string job_id;
    uint32_t world_size = 0;
    uint32_t first_rank = 0;           // ranks of this node are consecutive
    std::vector<AppContext> apps;      // of this node
    std::vector<std::string> base_env; // what all ranks inherit, foreign launchers' variables removed
    enum class Bind : uint32_t { automatic = 0, core = 1, none = 2 } bind = Bind::automatic;
    bool label = false;
    bool pmix = false;
    bool flush_prompts = false; // somebody may answer: show an unfinished line of rank 0
    bool stdin_open = false;

    [[nodiscard]] uint32_t local_ranks() const;
};

std::string encode(const StartRequest& r);
bool decode(std::string_view bytes, StartRequest& out);

// A rank that ended badly. The first one decides how mpiexec ends.
struct Failure {
    uint32_t rank = 0;
    uint32_t exit_code = 1;
    std::string text; // for stderr, complete; empty if the rank has said it all
};

std::string encode(const Failure& f);
bool decode(std::string_view bytes, Failure& out);

std::string encode(const Snapshot& s);
bool decode(std::string_view bytes, Snapshot& out);

} // namespace zipmpi::launch
