// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cluster map of a multi-cluster job: clusters without a common network, their nodes, and the gateways that
// connect them. Clusters are identified by number, never by address: several may use the same private range.
// Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::bridge {

struct Cluster {
    std::string name;
};

// Clusters of a node; the index in ClusterMap::nodes is the number of the node in the job. A node in two
// clusters is attached to both networks.
struct NodeClusters {
    std::vector<int> clusters;
};

struct Attachment {
    int cluster = 0;
    std::string devices; // devices of the gateway's host in this cluster, comma-separated; empty: automatic
};

// One end of a connection between two gateways; the other gateway has the other end. One of the two listens.
struct GatewayLink {
    int to_gateway = 0;
    std::string listen;     // numeric address:port, port 0: any, published as link.<index of this link>
    std::string connect;    // where the other end listens; empty: as it has published, or this end listens
    bool untrusted = false; // others may read or change the traffic: payloads are encrypted end to end
};

struct GatewaySpec {
    int number = 0; // index in ClusterMap::gateways
    std::string host;
    std::vector<Attachment> attached;
    std::vector<GatewayLink> links;
};

struct ClusterMap {
    std::vector<Cluster> clusters;
    std::vector<NodeClusters> nodes;
    std::vector<GatewaySpec> gateways;
};

// Environment variable by which the launcher passes the cluster map to ranks and gateways.
inline constexpr const char* cluster_map_variable = "ZIPMPI_CLUSTERS";

// Gateways have ids in the job, following the world ranks.
constexpr int gateway_id(int job_size, int gateway) { return job_size + gateway; }

// KVS keys of what a gateway publishes for one of its clusters (boot/address_book.hpp), and of the probe
// addresses of all processes that probe devices in a cluster.
inline std::string address_key(int cluster) { return "address." + std::to_string(cluster) + "."; }
inline std::string probe_key(int cluster) { return "probe." + std::to_string(cluster); }

// Returns one line of text.
std::string print(const ClusterMap& cluster_map);
// Returns false if the text is not a valid cluster map; `cluster_map` is then unspecified.
bool parse(std::string_view text, ClusterMap& cluster_map);
// Returns the first error of a cluster map; empty: valid.
std::string validate(const ClusterMap& cluster_map);

// The first cluster of `own` that is also in `others`; -1: none.
int first_shared_cluster(const std::vector<int>& own, const std::vector<int>& others);
std::vector<int> clusters_of(const GatewaySpec& gateway);
// Whether two nodes reach each other without a gateway.
bool share_cluster(const NodeClusters& a, const NodeClusters& b);
// Whether some nodes do not share a cluster. Otherwise gateways are not started.
bool needs_gateways(const ClusterMap& cluster_map);

} // namespace zipmpi::bridge
