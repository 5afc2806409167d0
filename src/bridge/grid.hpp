// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A grid: clusters that share no network, the nodes in them, and the gateways that join them. Clusters are
// known by number, never by address: the same private range may be used in several. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::bridge {

struct Cluster {
    std::string name;
};

// Index in Grid::nodes: the number of the node in the job. A node in two clusters sits in both networks.
struct NodePlace {
    std::vector<int> clusters;
};

struct Attachment {
    int cluster = 0;
    std::string devices; // of the gateway's host that lead into it, separated by commas; empty: to be found
};

// One end of a connection between two gateways; the other gateway has the other end. One of the two listens.
struct Link {
    int to_gateway = 0;
    std::string listen;  // numeric address:port, port 0: any, published as link.<index of this link>
    std::string connect; // where the other listens; empty: what it has published. Empty if this end listens
    bool untrusted = false; // others may read or change what travels: payloads are sealed end to end
};

struct GatewayPlace {
    int number = 0; // its index in Grid::gateways
    std::string host;
    std::vector<Attachment> attached;
    std::vector<Link> links;
};

struct Grid {
    std::vector<Cluster> clusters;
    std::vector<NodePlace> nodes;
    std::vector<GatewayPlace> gateways;
};

// The environment variable by which the launcher tells ranks and gateways of the grid.
inline constexpr const char* grid_variable = "ZIPMPI_GRID";

// A gateway takes part in the job under an id of its own, beside the world ranks.
constexpr int gateway_id(int job_size, int gateway) { return job_size + gateway; }

// Under these names the launcher knows what a gateway has put for one of its clusters
// (boot/address_book.hpp), and what all who look for devices in a cluster have.
inline std::string address_key(int cluster) { return "address." + std::to_string(cluster) + "."; }
inline std::string probe_key(int cluster) { return "probe." + std::to_string(cluster); }

// One line of text.
std::string print(const Grid& grid);
// False: the text describes no grid; `grid` is then in no particular state.
bool parse(std::string_view text, Grid& grid);
// What is wrong with a grid, in words; empty: nothing.
std::string flaw_of(const Grid& grid);

// The first of the own clusters that is also one of theirs; -1: none.
int first_shared(const std::vector<int>& own, const std::vector<int>& theirs);
std::vector<int> clusters_of(const GatewayPlace& gateway);
// Whether two nodes reach each other without a gateway.
bool share_cluster(const NodePlace& a, const NodePlace& b);
// Whether some do not. Else gateways have nothing to do, and are not started.
bool needs_gateways(const Grid& grid);

} // namespace zipmpi::bridge
