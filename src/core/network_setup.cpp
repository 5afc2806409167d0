// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/network_setup.hpp"

#include "base/param.hpp"
#include "boot/address_book.hpp"
#include "bridge/multi_cluster_network.hpp"
#include "bridge/probe_ring.hpp"
#include "core/runtime_state.hpp"
#include "os/host.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/engine.hpp"

#include <algorithm>
#include <cstdlib>

namespace zipmpi::core {
namespace {

Param<std::string> devices{"net.devices",
                           "",
                           nullptr,
                           Level::user,
                           Scope::local,
                           "network devices for inter-host messages, comma-separated (eth0, mlx5_0:1); "
                           "empty: automatic"};

const char* const no_module =
    "check the device names in ZIPMPI_NET_DEVICES; for RDMA install UCX (Debian: "
    "libucx0) or libfabric (libfabric1, for ZIPMPI_NET_ENGINE=ofi) and a ZipMPI built with "
    "it, or set ZIPMPI_NET_ENGINE=tcp; or start all ranks on one host";
const char* const no_launcher = "see the output of the launcher; start the program with ZipMPI's mpiexec";

Diagnostic no_network(const Runtime& e, const std::string& reason, const char* todo) {
    return {"this job spans several hosts, and the network cannot be used",
            "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size) + " on host " +
                os::host_name(),
            reason, todo};
}

Param<bool> monitor_peers{"net.detect_failures", false, Level::tuner, Scope::local,
                          "let UCX detect broken connections; reduces bandwidth of large messages"};
Param<int64_t> probe_seconds{"net.probe_timeout",
                             5,
                             {1, 3600},
                             Unit::none,
                             Level::user,
                             Scope::job_wide,
                             "seconds to discover devices that reach the other hosts"};

// UCX assembles multi-fragment messages in memory that it allocates and frees each time, and ZipMPI does so
// with unexpected messages. By default malloc returns such memory to the kernel, which clears it on the next
// allocation: an all-to-all of 64 KiB takes 1.6 times as long.
constexpr int malloc_trim_bytes = 16 << 20;

std::vector<int> first_ranks(const Runtime& e) {
    std::vector<int> first(e.segment.nodes(), -1);
    for (int rank = e.job.size - 1; rank >= 0; --rank) first[e.segment.node_of(rank)] = rank;
    return first;
}

// Ids of gateways follow those of ranks.
transport::auth::HandshakeKeys handshake_keys(const Runtime& e) {
    const wire::SegmentKeys& keys = e.segment.header().keys;
    return {keys.peer, keys.hop, e.job.size};
}

// One network of this node: the partners with which it probes devices, and its key.
struct ProbeNetwork {
    bridge::ProbePartners partners;
    std::string key;
    std::vector<int> members; // first ranks of the nodes in it
    bool has_gateways = false;
    std::unique_ptr<transport::DeviceProbe> probe;
};

// The kinds of devices of a host, published by the first rank of each node as a text of these words joined by
// +.
constexpr const char* device_kinds_key = "device_kinds";
constexpr const char* has_rdma = "rdma";
constexpr const char* has_ofi = "ofi";

std::string device_kinds_text() {
    const transport::DeviceKinds kinds = transport::device_kinds_of_host();
    return std::string(kinds.rdma ? has_rdma : "-") + "+" + (kinds.ofi ? has_ofi : "-"); // PMI forbids blanks
}

// Without a cluster map all nodes are in one network.
std::vector<ProbeNetwork> probe_networks(const Runtime& e, const bridge::ClusterMap* cluster_map) {
    std::vector<ProbeNetwork> found;
    const std::vector<int> ranks = first_ranks(e);
    if (cluster_map == nullptr) {
        const size_t n = ranks.size();
        const size_t own_node = e.segment.node();
        found.push_back(
            {{ranks[(own_node + 1) % n], {ranks[(own_node + n - 1) % n]}}, "probe", ranks, false, nullptr});
        return found;
    }
    for (const int c : cluster_map->nodes[e.segment.node()].clusters) {
        std::vector<int> members;
        for (size_t node = 0; node < ranks.size(); ++node)
            if (std::ranges::count(cluster_map->nodes[node].clusters, c) != 0) members.push_back(ranks[node]);
        found.push_back({bridge::probe_partners(*cluster_map, c, ranks, e.job.size, e.job.rank),
                         bridge::probe_key(c), std::move(members), true, nullptr});
    }
    return found;
}

// Looks up the addresses of a gateway, which may be killed and restarted at any time.
class GatewayLookup final : public transport::ProbeListener {
  public:
    GatewayLookup(boot::Launcher& launcher, int id, const std::string& key)
        : launcher_(launcher)
        , id_(id)
        , key_(key) {}

    std::string current_addresses() override {
        std::string addresses;
        return launcher_.get(id_, key_, addresses) ? addresses : std::string();
    }

  private:
    boot::Launcher& launcher_;
    int id_;
    const std::string& key_;
};

bool all_hosts_have(Runtime& e, const ProbeNetwork& n, const char* kind) {
    return std::ranges::all_of(n.members, [&](int rank) {
        std::string text;
        return rank < 0 ||
               (e.job.launcher->get(rank, device_kinds_key, text) && text.find(kind) != text.npos);
    });
}

// The devices that a network uses: RDMA only if all its hosts have it, because engines do not connect to each
// other. Gateways do not see the devices that only libfabric drives.
std::string usable_devices(Runtime& e, const ProbeNetwork& n) {
    const std::string& probed = n.probe->devices();
    std::string with_ofi = transport::with_ofi_devices(probed);
    if (with_ofi != probed && !n.has_gateways && transport::engine_for(with_ofi) == transport::Engine::ofi &&
        all_hosts_have(e, n, has_ofi))
        return with_ofi;
    if (transport::engine_for(probed) == transport::engine_for(transport::without_rdma(probed)))
        return probed;
    return all_hosts_have(e, n, has_rdma) ? probed : transport::without_rdma(probed);
}

// Runs in one rank of each node: probes with its neighbors in each network. Devices of several networks are
// separate.
bool probe_devices(Runtime& e, const std::vector<ProbeNetwork>& networks, std::string& found,
                   std::string& probe_log) {
    bool all = std::ranges::any_of(networks, [](const ProbeNetwork& n) { return n.partners.next >= 0; });
    for (const ProbeNetwork& n : networks) {
        if (&n != networks.data()) found += bridge::device_group_separator;
        if (n.partners.next < 0) continue; // no other node in this network
        std::string addresses;
        const bool has_address = e.job.launcher->get(n.partners.next, n.key, addresses);
        GatewayLookup gateway_lookup(*e.job.launcher, n.partners.next, n.key);
        const bool is_gateway = n.partners.next >= e.job.size;
        const transport::DeviceProbe::ProbeRequest search{n.partners.next, addresses, n.partners.incoming,
                                                          static_cast<int>(probe_seconds.get() * 1000),
                                                          is_gateway ? &gateway_lookup : nullptr};
        all = has_address && n.probe->run(search) && all;
        found += usable_devices(e, n);
        probe_log += (probe_log.empty() || n.probe->log().empty() ? "" : "; ") + n.probe->log();
    }
    return all;
}

Diagnostic no_route(const Runtime& e, const std::string& probe_log) {
    return no_network(
        e,
        "no device reaches the ranks on the next host: " +
            (probe_log.empty() ? std::string("no address to try") : probe_log),
        "check that the hosts reach each other (firewall, routes), set ZIPMPI_NET_DEVICES to devices "
        "that do, or start all ranks on one host");
}

// Finds the devices that reach the other hosts, once per node, unless the user has named them.
bool choose_devices(Runtime& e, const bridge::ClusterMap* cluster_map, std::string& chosen, Diagnostic& why) {
    std::vector<ProbeNetwork> networks;
    if (e.job.local_index == 0) networks = probe_networks(e, cluster_map);
    for (ProbeNetwork& n : networks) {
        n.probe = transport::new_probe(e.job.rank, handshake_keys(e));
        static_cast<void>(e.job.launcher->put(n.key, n.probe->listen())); // a peer that does not get it
                                                                          // reports an error
    }
    if (!networks.empty()) static_cast<void>(e.job.launcher->put(device_kinds_key, device_kinds_text()));
    if (!e.job.launcher->fence()) {
        why = no_network(e, "the launcher did not distribute addresses", no_launcher);
        return false;
    }
    const bool named = !devices.get().empty();
    if (e.job.local_index == 0) {
        std::string found;
        std::string probe_log;
        const bool all = probe_devices(e, networks, found, probe_log);
        e.segment.network_info().set_devices(
            all || named ? wire::DevicesState::known : wire::DevicesState::none, found, probe_log);
    }
    if (e.segment.network_info().wait_for_devices())
        chosen = named ? devices.get() : e.segment.header().devices;
    else
        why = no_route(e, e.segment.header().devices_log);
    return !chosen.empty();
}

bridge::ClusterLocator make_cluster_locator(Runtime& e,
                                            const std::shared_ptr<const bridge::ClusterMap>& cluster_map) {
    return {cluster_map, e.job.size, [&e](int rank) { return static_cast<int>(e.segment.node_of(rank)); }};
}

// Addresses of ranks and gateways, from the launcher.
class PublishedAddresses final : public transport::AddressResolver {
  public:
    PublishedAddresses(Runtime& e, std::shared_ptr<const bridge::ClusterMap> cluster_map)
        : runtime_(e)
        , cluster_map_(std::move(cluster_map)) {}

    std::string find(int id) override {
        const Runtime& e = runtime_;
        if (e.job.launcher == nullptr) return {};
        if (cluster_map_ == nullptr && id >= e.job.size) return {};
        if (id < e.job.size &&
            (cluster_map_ == nullptr || cluster_map_->nodes[e.segment.node_of(id)].clusters.size() < 2))
            return boot::find_address(*e.job.launcher, e.segment, id);
        const int shared =
            make_cluster_locator(runtime_, cluster_map_).cluster_to(e.job.rank, id); // one per cluster
        return shared < 0 ? std::string()
                          : boot::fetch_address(*e.job.launcher, id, bridge::address_key(shared));
    }

  private:
    Runtime& runtime_;
    std::shared_ptr<const bridge::ClusterMap> cluster_map_;
};

// Reads the cluster map from the launcher. Stays empty if there is only one cluster.
bool read_cluster_map(const Runtime& e, std::shared_ptr<const bridge::ClusterMap>& cluster_map,
                      Diagnostic& why) {
    const char* const text = std::getenv(bridge::cluster_map_variable);
    if (text == nullptr) return true;
    auto read = std::make_shared<bridge::ClusterMap>();
    if (!bridge::parse(text, *read) || read->nodes.size() != e.segment.nodes()) {
        why = no_network(e, "the launcher's description of clusters and gateways is invalid",
                         "use mpiexec and library of the same ZipMPI version");
        return false;
    }
    if (bridge::needs_gateways(*read)) cluster_map = std::move(read);
    return true;
}

// The network as the protocols see it: of one cluster, or of several with a bridge.
struct OpenedNetwork {
    std::unique_ptr<transport::Network> network;
    bridge::MultiClusterNetwork* bridge = nullptr; // the network of a multi-cluster job
};

OpenedNetwork open_network(Runtime& e, const std::shared_ptr<const bridge::ClusterMap>& cluster_map,
                           const std::string& chosen, std::string& reason) {
    transport::NetworkConfig settings{e.job.rank, handshake_keys(e), chosen.c_str(),
                                      monitor_peers || e.segment.faults().state().fault_tolerant != 0};
    e.address_resolver = std::make_shared<PublishedAddresses>(e, cluster_map);
    settings.listener = &e.progress_engine->network_events();
    settings.resolver = e.address_resolver.get();
    OpenedNetwork opened;
    if (cluster_map == nullptr) {
        opened.network = transport::open_network(settings, {}, reason);
    } else {
        auto bridged =
            bridge::MultiClusterNetwork::open(settings, make_cluster_locator(e, cluster_map),
                                              {e.job.id, e.segment.header().keys.end_to_end}, reason);
        opened.bridge = bridged.get();
        opened.network = std::move(bridged);
    }
    return opened;
}

// A multihomed rank has a separate address in each cluster.
bool publish_addresses(Runtime& e, const bridge::ClusterMap* cluster_map, const OpenedNetwork& opened) {
    bool all = boot::publish_address(*e.job.launcher, opened.network->address());
    if (cluster_map == nullptr) return all;
    const std::vector<int>& clusters = cluster_map->nodes[e.segment.node()].clusters;
    for (size_t i = 0; i < clusters.size() && clusters.size() > 1; ++i)
        all = boot::publish_address(*e.job.launcher, opened.bridge->address_in(i),
                                    bridge::address_key(clusters[i])) &&
              all;
    return all;
}

// Connects to the gateways and waits for them, for a limited time.
void start_bridge(Runtime& e, const bridge::ClusterMap& cluster_map, bridge::MultiClusterNetwork& bridge) {
    bridge.connect_gateways();
    std::vector<int> of_node;
    for (const bridge::NodeClusters& n : cluster_map.nodes) of_node.push_back(n.clusters.front());
    e.progress_engine->peers().use_clusters(static_cast<int>(cluster_map.clusters.size()),
                                            std::move(of_node));
    bridge.wait_until_ready();
}

} // namespace

bool join_network(Runtime& e, Diagnostic& why) {
    if (e.segment.nodes() == 1) return true;
    os::set_malloc_trim_threshold(malloc_trim_bytes);
    std::shared_ptr<const bridge::ClusterMap> cluster_map;
    std::string chosen;
    if (!read_cluster_map(e, cluster_map, why) || !choose_devices(e, cluster_map.get(), chosen, why))
        return false;
    std::string reason;
    OpenedNetwork opened = open_network(e, cluster_map, chosen, reason);
    if (opened.network == nullptr) {
        why = no_network(e, reason, no_module);
        return false;
    }
    if (!e.progress_engine->shm().enable_socket_wakeup() ||
        !publish_addresses(e, cluster_map.get(), opened) || !e.job.launcher->fence()) {
        why =
            no_network(e, "the launcher did not accept or distribute the address of this rank", no_launcher);
        return false;
    }
    e.network_devices = chosen;
    e.progress_engine->network_port().use(std::move(opened.network));
    if (opened.bridge != nullptr) start_bridge(e, *cluster_map, *opened.bridge);
    track_remote_releases(*e.progress_engine);
    return true;
}

} // namespace zipmpi::core
