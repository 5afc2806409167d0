// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gateway/device_search.hpp"

#include "boot/address_book.hpp"
#include "bridge/probe_ring.hpp"
#include "transport/engine.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace zipmpi::gateway {
namespace {

constexpr int probe_limit_ms = 5000;
constexpr useconds_t poll_interval_us = 2000;
constexpr int max_polls = 30'000; // one minute

// A rank publishes its keys at some point of its startup.
bool wait_for_value(GatewayContext& p, int id, const std::string& key, std::string& value) {
    for (int i = 0; i < max_polls; ++i) {
        if (p.launcher->get(id, key, value)) return true;
        usleep(poll_interval_us);
    }
    return false;
}

struct ClusterSearch {
    int cluster;
    std::string devices;
    bridge::ProbePartners partners;
    std::unique_ptr<transport::DeviceProbe> probe;
    // unreachable: the next partner did not publish its addresses
    enum { not_needed, unreachable, searching } state = not_needed;
    std::string next_addresses{};
    bool found = false;
};

std::string devices_key(int cluster) { return "devices." + std::to_string(cluster); }

// Ranks publish their address after their search. A get of a key that a gateway has not put would block.
bool search_complete(GatewayContext& p, const ClusterSearch& n) {
    std::vector<int> others = n.partners.incoming;
    others.push_back(n.partners.next);
    return std::ranges::all_of(others, [&](int id) {
        return id >= p.identity.size ? !n.devices.empty() : !boot::fetch_address(*p.launcher, id).empty();
    });
}

// The search in one network, during which partners may be killed and restarted. A gateway in several networks
// has one thread per search; they share the launcher connection.
class SearchThread final : public transport::ProbeListener {
  public:
    SearchThread(GatewayContext& context, ClusterSearch& search, std::mutex& launcher_mutex)
        : context_(context)
        , search_(search)
        , launcher_mutex_(launcher_mutex) {}

    bool run() {
        return search_.probe->run(
            {search_.partners.next, search_.next_addresses, search_.partners.incoming, probe_limit_ms, this});
    }
    std::string current_addresses() override {
        if (search_.partners.next < context_.identity.size) return {}; // ranks stay where they are
        const std::lock_guard<std::mutex> guard(launcher_mutex_);
        std::string addresses;
        const std::string key = bridge::probe_key(search_.cluster);
        return context_.launcher->get(search_.partners.next, key, addresses) ? addresses : std::string();
    }
    void found(const std::string& devices) override {
        const std::lock_guard<std::mutex> guard(launcher_mutex_);
        static_cast<void>(context_.launcher->put(devices_key(search_.cluster), devices));
    }
    bool is_complete() override {
        if (context_.epoch <= 1) return false;
        const std::lock_guard<std::mutex> guard(launcher_mutex_);
        return search_complete(context_, search_);
    }

  private:
    GatewayContext& context_;
    ClusterSearch& search_;
    std::mutex& launcher_mutex_;
};

std::vector<int> first_ranks(const GatewayContext& p) {
    std::vector<int> first(p.cluster_map.nodes.size(), -1);
    for (int rank = p.identity.size - 1; rank >= 0; --rank) first[p.segment.node_of(rank)] = rank;
    return first;
}

void open_probes(GatewayContext& p, std::vector<ClusterSearch>& networks) {
    for (const bridge::Attachment& a : p.own_spec().attached)
        networks.push_back({a.cluster, a.devices,
                            bridge::probe_partners(p.cluster_map, a.cluster, first_ranks(p), p.identity.size,
                                                   p.identity.rank),
                            nullptr});
    for (ClusterSearch& n : networks) {
        n.probe = transport::new_probe(p.identity.rank, p.handshake_keys());
        static_cast<void>(p.launcher->put(bridge::probe_key(n.cluster), n.probe->listen()));
    }
}

void run_searches(GatewayContext& p, std::vector<ClusterSearch>& networks) {
    for (ClusterSearch& n : networks) {
        if (n.partners.next < 0 || (p.epoch > 1 && !n.devices.empty() && search_complete(p, n))) continue;
        const bool published =
            wait_for_value(p, n.partners.next, bridge::probe_key(n.cluster), n.next_addresses);
        n.state = published ? ClusterSearch::searching : ClusterSearch::unreachable;
    }
    std::mutex turn;                  // for the launcher connection
    std::deque<std::thread> searches; // concurrent in all clusters: each waits for its partners
    for (ClusterSearch& n : networks)
        if (n.state == ClusterSearch::searching)
            searches.emplace_back([&p, &n, &turn] { n.found = SearchThread(p, n, turn).run(); });
    for (std::thread& one : searches) one.join();
}

} // namespace

// All probing processes wait for their partners, so this is done even if devices are configured, or were
// found by the previous instance of this gateway.
bool find_devices(GatewayContext& p, std::vector<ClusterDevices>& found, std::string& why) {
    std::vector<ClusterSearch> networks;
    open_probes(p, networks);
    run_searches(p, networks);
    for (ClusterSearch& n : networks) {
        if (n.state != ClusterSearch::not_needed) {
            if (n.devices.empty()) n.devices = n.probe->devices();
            if (n.devices.empty()) {
                why = "no device reaches cluster " + p.cluster_name(n.cluster) + ": " +
                      (n.found ? "" : n.probe->log());
                return false;
            }
            static_cast<void>(p.launcher->put(devices_key(n.cluster), n.devices));
        }
        found.push_back({n.cluster, n.devices});
    }
    return true;
}

} // namespace zipmpi::gateway
