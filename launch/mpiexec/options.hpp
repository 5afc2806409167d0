// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of mpiexec.
#pragma once

#include "base/problem.hpp"
#include "launch/link/messages.hpp"

#include <string>
#include <vector>

namespace zipmpi::launch {

enum class Pmix { automatic, yes, no };

struct Options {
    std::vector<AppContext> apps; // path not resolved yet
    StartRequest::Bind bind = StartRequest::Bind::automatic;
    Pmix pmix = Pmix::automatic;
    bool label = false;
    bool keep_going = false;  // a rank that dies does not end the job
    double timeout = 0;       // seconds, 0 = none
    double report_hang = 0;   // seconds, 0 = off
    bool ranks_given = false; // -n was written
    std::string host, hostfile, grid;
    MapBy map_by = MapBy::slot;
    std::string matrix; // file of --map-by comm:FILE
    bool sockets_in_turn = false, show_placement = false;
    std::string agent = "ssh -x -T -o BatchMode=yes";
    std::string interface;
    uint32_t width = 32;
    std::string print; // --help, --version: print this and exit with 0
};

// args: without the program's own name. environ_like: null-terminated, for MPIEXEC_TIMEOUT. False: why says
// what is wrong.
bool parse_options(const std::vector<std::string>& args, const char* const* environ_like, Options& out,
                   Problem& why);

} // namespace zipmpi::launch
