// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a user writes about clusters and gateways, for mpiexec --grid. Hosts are names for the launch agent of
// their cluster; they are never compared with those of another one.
#pragma once

#include "launch/map/hosts.hpp"

#include "base/problem.hpp"

namespace zipmpi::launch {

struct GridFile {
    struct Cluster {
        std::string name;
        HostList hosts;
        std::string agent;   // empty: that of the command line
        bool direct = false; // mpiexec starts its hosts itself, not through a gateway
    };
    struct Attached {
        uint32_t cluster = 0;
        std::string devices; // empty: to be found
    };
    struct Link {
        std::string to;      // host of the other gateway
        std::string listen;  // numeric address:port
        std::string connect; // where the other one finds it, if that is not what is listened on
        bool untrusted = false;
    };
    struct Gateway {
        std::string host;
        std::vector<Attached> attached;
        std::vector<Link> links;
        uint32_t slots = 0; // ranks that may be placed there
        std::string agent;
    };
    std::vector<Cluster> clusters;
    std::vector<Gateway> gateways;
};

// False: why says what is wrong, and in which line. Relative names of host files start at the file's folder.
bool read_grid_file(const std::string& path, GridFile& out, Problem& why);
bool parse_grid_file(const std::string& text, const std::string& path, GridFile& out, Problem& why);

} // namespace zipmpi::launch
