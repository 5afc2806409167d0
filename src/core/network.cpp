// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/network.hpp"

#include "base/param.hpp"
#include "boot/address_book.hpp"
#include "core/state.hpp"
#include "os/host.hpp"

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
constexpr const char* probe_key = "probe";

int first_rank_of(const Engine& e, uint32_t node) {
    int rank = 0;
    while (rank < e.job.size && e.segment.node_of(rank) != node) ++rank;
    return rank;
}

// In one rank of each node: with its neighbours among the nodes.
bool probe_devices(Engine& e, transport::ucx::Probe& probe) {
    const uint32_t nodes = e.segment.nodes();
    const int next = first_rank_of(e, (e.segment.node() + 1) % nodes);
    const int previous = first_rank_of(e, (e.segment.node() + nodes - 1) % nodes);
    std::string addresses;
    return e.job.launcher->get(next, probe_key, addresses) &&
           probe.run(next, addresses, previous, static_cast<int>(probe_seconds.get() * 1000));
}

Problem no_way(const Engine& e, const std::string& story) {
    return no_network(e,
                      "no device leads to the ranks on the next host: " +
                          (story.empty() ? std::string("no address to try") : story),
                      "check that the hosts reach each other (firewall, routes), name devices that do in "
                      "ZIPMPI_NET_DEVICES, or start all ranks on one host");
}

// Finds the devices that lead to the other hosts, once per node, unless the user has named them.
bool choose_devices(Engine& e, std::string& chosen, Problem& why) {
    std::string reason;
    std::unique_ptr<transport::ucx::Probe> probe;
    if (e.job.local_index == 0) {
        probe.reset(transport::ucx::open_probe(e.job.rank, e.segment.header().job_key, reason));
        if (probe == nullptr) {
            why = no_network(e, reason, no_module);
            return false;
        }
        static_cast<void>(e.job.launcher->put(probe_key, probe->listen())); // who misses it says so
    }
    if (!e.job.launcher->fence()) {
        why = no_network(e, "the launcher did not spread addresses", no_launcher);
        return false;
    }
    const bool named = !devices.get().empty();
    if (probe != nullptr) {
        const bool found = probe_devices(e, *probe);
        e.segment.set_devices(found || named, probe->devices(), probe->story());
    }
    if (e.segment.wait_for_devices())
        chosen = named ? devices.get() : e.segment.header().devices;
    else
        why = no_way(e, e.segment.header().devices_story);
    return !chosen.empty();
}

} // namespace

bool join_network(Engine& e, Problem& why) {
    if (e.segment.nodes() == 1) return true;
    std::string chosen;
    if (!choose_devices(e, chosen, why)) return false;
    transport::ucx::Settings settings{e.job.rank,
                                      e.segment.header().job_key,
                                      chosen.c_str(),
                                      watch_peers || e.segment.news().keeps_going != 0,
                                      e.lane->network_sink(),
                                      {&e, [](void* subject, int world_rank) {
                                           auto& self = *static_cast<Engine*>(subject);
                                           if (self.job.launcher == nullptr) return std::string();
                                           return boot::find_address(*self.job.launcher, self.segment,
                                                                     world_rank);
                                       }}};
    std::string reason;
    std::unique_ptr<transport::ucx::Network> network(transport::ucx::open(settings, reason));
    if (network == nullptr) {
        why = no_network(e, reason, no_module);
        return false;
    }
    if (!e.lane->shm().hear_a_bell() || !boot::publish_address(*e.job.launcher, network->address()) ||
        !e.job.launcher->fence()) {
        why = no_network(e, "the launcher did not take or spread the address of this rank", no_launcher);
        return false;
    }
    e.lane->use_network(std::move(network));
    count_contexts_given_back(*e.lane);
    return true;
}

} // namespace zipmpi::core
