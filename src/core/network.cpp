// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/network.hpp"

#include "base/param.hpp"
#include "boot/address_book.hpp"
#include "bridge/network.hpp"
#include "bridge/ring.hpp"
#include "core/state.hpp"
#include "os/host.hpp"
#include "proto/p2p/lane.hpp"

#include <algorithm>
#include <cstdlib>

namespace zipmpi::core {
namespace {

Param<std::string> devices{"net.devices",
                           "",
                           nullptr,
                           Level::user,
                           Scope::local,
                           "network devices for messages between hosts, separated by commas (eth0, "
                           "mlx5_0:1); empty: chosen by itself"};

const char* const no_module =
    "install UCX (Debian: libucx0) and a ZipMPI that was built with it; name devices "
    "that exist in ZIPMPI_NET_DEVICES; or start all ranks on one host";
const char* const no_launcher = "look for a message of the launcher; start the program with ZipMPI's mpiexec";

Problem no_network(const Engine& e, const std::string& reason, const char* todo) {
    return {"this job spans several hosts, and the network cannot be used",
            "rank " + std::to_string(e.job.rank) + " of " + std::to_string(e.job.size) + " on host " +
                os::host_name(),
            reason, todo};
}

Param<bool> watch_peers{"net.watch_peers", false, Level::tuner, Scope::local,
                        "let UCX watch the connections to other hosts: a lost one is noticed even without "
                        "mpiexec, but long messages become slower"};
Param<int64_t> probe_seconds{"net.probe_seconds",
                             5,
                             {1, 3600},
                             Unit::none,
                             Level::user,
                             Scope::all_equal,
                             "seconds to find devices that lead to the other hosts"};

// UCX puts messages of several parts together in memory that it allocates and frees each time, and we keep
// unexpected ones likewise. As malloc comes, the kernel gets such memory back and has to clear it again: an
// all-to-all of 64 KiB takes 1.6 times as long.
constexpr int kept_memory = 16 << 20;

std::vector<int> first_ranks(const Engine& e) {
    std::vector<int> first(e.segment.nodes(), -1);
    for (int rank = e.job.size - 1; rank >= 0; --rank) first[e.segment.node_of(rank)] = rank;
    return first;
}

// One network of this node: whom it looks for devices with, and how that is called.
struct Neighbourhood {
    bridge::Neighbours who;
    std::string key;
    std::unique_ptr<transport::ucx::Probe> probe;
};

// Without a grid all nodes are in one network.
std::vector<Neighbourhood> neighbourhoods(const Engine& e, const bridge::Grid* grid) {
    std::vector<Neighbourhood> found;
    const std::vector<int> ranks = first_ranks(e);
    if (grid == nullptr) {
        const size_t n = ranks.size();
        const size_t own = e.segment.node();
        found.push_back({{ranks[(own + 1) % n], {ranks[(own + n - 1) % n]}}, "probe", nullptr});
        return found;
    }
    for (const int c : grid->nodes[e.segment.node()].clusters) {
        found.push_back(
            {bridge::neighbours_in(*grid, c, ranks, e.job.size, e.job.rank), bridge::probe_key(c), nullptr});
    }
    return found;
}

// Where a gateway is looked for: it may be killed, and started again, at any time.
struct Asking {
    boot::Launcher* launcher;
    int id;
    std::string key;

    static std::string again(void* subject) {
        const Asking& a = *static_cast<Asking*>(subject);
        std::string addresses;
        return a.launcher->get(a.id, a.key, addresses) ? addresses : std::string();
    }
};

// In one rank of each node: with its neighbours in each network. Devices of several are kept apart.
bool probe_devices(Engine& e, const std::vector<Neighbourhood>& networks, std::string& found,
                   std::string& story) {
    bool all = std::ranges::any_of(networks, [](const Neighbourhood& n) { return n.who.next >= 0; });
    for (const Neighbourhood& n : networks) {
        if (&n != networks.data()) found += bridge::between_devices;
        if (n.who.next < 0) continue; // nobody else is there
        std::string addresses;
        const bool known = e.job.launcher->get(n.who.next, n.key, addresses);
        Asking asking{e.job.launcher.get(), n.who.next, n.key};
        transport::ucx::Probe::Search search{n.who.next, addresses, n.who.askers,
                                             static_cast<int>(probe_seconds.get() * 1000), &asking};
        if (n.who.next >= e.job.size) search.addresses_now = Asking::again; // a gateway
        all = known && n.probe->run(search) && all;
        found += n.probe->devices();
        story += (story.empty() || n.probe->story().empty() ? "" : "; ") + n.probe->story();
    }
    return all;
}

Problem no_way(const Engine& e, const std::string& story) {
    return no_network(e,
                      "no device leads to the ranks on the next host: " +
                          (story.empty() ? std::string("no address to try") : story),
                      "check that the hosts reach each other (firewall, routes), name devices that do in "
                      "ZIPMPI_NET_DEVICES, or start all ranks on one host");
}

// Finds the devices that lead to the other hosts, once per node, unless the user has named them.
bool choose_devices(Engine& e, const bridge::Grid* grid, std::string& chosen, Problem& why) {
    std::string reason;
    std::vector<Neighbourhood> networks;
    if (e.job.local_index == 0) networks = neighbourhoods(e, grid);
    for (Neighbourhood& n : networks) {
        n.probe.reset(transport::ucx::open_probe(e.job.rank, e.segment.header().job_key, reason));
        if (n.probe == nullptr) {
            why = no_network(e, reason, no_module);
            return false;
        }
        static_cast<void>(e.job.launcher->put(n.key, n.probe->listen())); // who misses it says so
    }
    if (!e.job.launcher->fence()) {
        why = no_network(e, "the launcher did not spread addresses", no_launcher);
        return false;
    }
    const bool named = !devices.get().empty();
    if (e.job.local_index == 0) {
        std::string found;
        std::string story;
        const bool all = probe_devices(e, networks, found, story);
        e.segment.set_devices(all || named, found, story);
    }
    if (e.segment.wait_for_devices())
        chosen = named ? devices.get() : e.segment.header().devices;
    else
        why = no_way(e, e.segment.header().devices_story);
    return !chosen.empty();
}

bridge::Places places_in(Engine& e, const std::shared_ptr<const bridge::Grid>& grid) {
    return {grid, e.job.size, &e, [](void* subject, int rank) {
                return static_cast<int>(static_cast<const Engine*>(subject)->segment.node_of(rank));
            }};
}

std::string find_address(Engine& e, const std::shared_ptr<const bridge::Grid>& grid, int id) {
    if (e.job.launcher == nullptr) return {};
    if (grid == nullptr && id >= e.job.size) return {};
    if (id < e.job.size && (grid == nullptr || grid->nodes[e.segment.node_of(id)].clusters.size() < 2))
        return boot::find_address(*e.job.launcher, e.segment, id);
    const int shared = places_in(e, grid).cluster_to(e.job.rank, id); // one address for each cluster
    return shared < 0 ? std::string() : boot::ask_address(*e.job.launcher, id, bridge::address_key(shared));
}

// What the launcher says of clusters. Empty without a word: there is one.
bool read_grid(const Engine& e, std::shared_ptr<const bridge::Grid>& grid, Problem& why) {
    const char* const text = std::getenv(bridge::grid_variable);
    if (text == nullptr) return true;
    auto read = std::make_shared<bridge::Grid>();
    if (!bridge::parse(text, *read) || read->nodes.size() != e.segment.nodes()) {
        why = no_network(e, "the launcher's description of clusters and gateways cannot be understood",
                         "use mpiexec and library of one version of ZipMPI");
        return false;
    }
    if (bridge::needs_gateways(*read)) grid = std::move(read);
    return true;
}

// The network as the protocols see it: one cluster, or several with a bridge.
std::unique_ptr<transport::ucx::Network> open_network(Engine& e,
                                                      const std::shared_ptr<const bridge::Grid>& grid,
                                                      const std::string& chosen, std::string& reason) {
    static std::shared_ptr<const bridge::Grid> the_grid; // as long as the network, which is never closed
    the_grid = grid;
    transport::ucx::Settings settings{e.job.rank, e.segment.header().job_key, chosen.c_str(),
                                      watch_peers || e.segment.news().keeps_going != 0};
    settings.sink = e.lane->network_sink();
    settings.book = {
        &e, [](void* subject, int id) { return find_address(*static_cast<Engine*>(subject), the_grid, id); }};
    if (grid == nullptr)
        return std::unique_ptr<transport::ucx::Network>(transport::ucx::open(settings, reason));
    return bridge::BridgedNetwork::open(settings, places_in(e, grid), e.job.id, reason);
}

// A rank in several clusters is reached in each of them at an address of its own.
bool publish_addresses(Engine& e, const bridge::Grid* grid, const transport::ucx::Network& network) {
    bool all = boot::publish_address(*e.job.launcher, network.address());
    if (grid == nullptr) return all;
    const std::vector<int>& own = grid->nodes[e.segment.node()].clusters;
    for (size_t i = 0; i < own.size() && own.size() > 1; ++i)
        all = boot::publish_address(*e.job.launcher,
                                    static_cast<const bridge::BridgedNetwork&>(network).address_in(i),
                                    bridge::address_key(own[i])) &&
              all;
    return all;
}

} // namespace

bool join_network(Engine& e, Problem& why) {
    if (e.segment.nodes() == 1) return true;
    os::keep_freed_memory(kept_memory);
    std::shared_ptr<const bridge::Grid> grid;
    std::string chosen;
    if (!read_grid(e, grid, why) || !choose_devices(e, grid.get(), chosen, why)) return false;
    std::string reason;
    auto network = open_network(e, grid, chosen, reason);
    if (network == nullptr) {
        why = no_network(e, reason, no_module);
        return false;
    }
    if (!e.lane->shm().hear_a_bell() || !publish_addresses(e, grid.get(), *network) ||
        !e.job.launcher->fence()) {
        why = no_network(e, "the launcher did not take or spread the address of this rank", no_launcher);
        return false;
    }
    bridge::BridgedNetwork* const bridged =
        grid != nullptr ? static_cast<bridge::BridgedNetwork*>(network.get()) : nullptr;
    if (bridged != nullptr) {
        bridged->meet_gateways();
        std::vector<int> of_node;
        for (const bridge::NodePlace& n : grid->nodes) of_node.push_back(n.clusters.front());
        e.lane->use_clusters(static_cast<int>(grid->clusters.size()), std::move(of_node));
    }
    e.devices = chosen;
    e.lane->use_network(std::move(network));
    if (bridged != nullptr) bridged->settle();
    count_contexts_given_back(*e.lane);
    return true;
}

} // namespace zipmpi::core
