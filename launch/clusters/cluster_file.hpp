// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The cluster file of mpiexec --clusters: the clusters, hosts and gateways that a user describes in TOML. A
// host name is meant for the launch agent of its cluster and is never compared with names of another cluster.
#pragma once

#include "launch/placement/host_list.hpp"

#include "base/diagnostic.hpp"

namespace zipmpi::launch {

struct ClusterFile {
    struct ClusterEntry {
        std::string name;
        HostList hosts;
        std::string agent;   // empty: the agent of the command line
        bool direct = false; // mpiexec starts the hosts, not a gateway
    };
    struct AttachmentSpec {
        uint32_t cluster = 0;
        std::string devices; // empty: found automatically
    };
    struct LinkSpec {
        std::string to;      // host of the other gateway
        std::string listen;  // numeric ADDRESS:PORT
        std::string connect; // address that the other gateway connects to, if it differs from `listen`
        bool untrusted = false;
    };
    struct GatewayEntry {
        std::string host;
        std::vector<AttachmentSpec> attached;
        std::vector<LinkSpec> links;
        uint32_t slots = 0; // maximum number of ranks on this host
        std::string agent;
        double speed = 1; // relative, as of hosts
    };
    std::vector<ClusterEntry> clusters;
    std::vector<GatewayEntry> gateways;
};

// Returns false and sets `why`, with the line, if the text is not valid. Relative host files start at the
// file's folder.
bool read_cluster_file(const std::string& path, ClusterFile& out, Diagnostic& why);
bool parse_cluster_file(const std::string& text, const std::string& path, ClusterFile& out, Diagnostic& why);

} // namespace zipmpi::launch
