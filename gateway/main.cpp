// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// zipmpi-gateway: started by zipmpi-noded for a job whose clusters have no common network, with the
// environment of a rank. Finds the devices of its clusters, opens their networks, publishes its addresses,
// and forwards frames until it is terminated or its launcher exits.
#include "base/diagnostic.hpp"
#include "base/param.hpp"
#include "boot/address_book.hpp"
#include "boot/pmi_client.hpp"
#include "bridge/multi_cluster_network.hpp"
#include "bridge/probe_ring.hpp"
#include "gateway/forwarder.hpp"
#include "gateway/links.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/memory.hpp"
#include "transport/ucx/ucx_module.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace zipmpi;

namespace {

constexpr int probe_limit_ms = 5000;
constexpr useconds_t poll_interval_us = 2000;
constexpr int max_polls = 30'000; // one minute

struct GatewayContext {
    segment::NodeSegment segment;
    boot::PmiIdentity identity;
    std::unique_ptr<boot::Launcher> launcher;
    bridge::ClusterMap cluster_map;
    int number = 0;
    int epoch = 1;
    std::string job_id;
};

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
}

int fail_with(const std::string& why, const char* fix) {
    report({"the gateway cannot start", "zipmpi-gateway on host " + os::host_name(), why, fix});
    return 1;
}

constexpr const char* start_hint = "start the job with mpiexec --clusters; gateways are not started by hand";

bool read_context(GatewayContext& p, std::string& why) {
    if (!bridge::parse(variable(bridge::cluster_map_variable), p.cluster_map)) {
        why = "ZIPMPI_CLUSTERS is not a valid cluster map";
        return false;
    }
    p.number = std::atoi(variable("ZIPMPI_GATEWAY").c_str());
    p.epoch = std::atoi(variable("ZIPMPI_GATEWAY_EPOCH").c_str());
    p.job_id = variable("ZIPMPI_JOB_ID");
    p.identity.rank = std::atoi(variable("PMI_RANK").c_str());
    p.identity.size = std::atoi(variable("PMI_SIZE").c_str());
    const int pmi = std::atoi(variable("PMI_FD").c_str());
    if (p.number < 0 || p.number >= static_cast<int>(p.cluster_map.gateways.size()) || p.identity.size < 1 ||
        p.identity.rank != bridge::gateway_id(p.identity.size, p.number)) {
        why = "the variables ZIPMPI_GATEWAY, PMI_RANK and PMI_SIZE are inconsistent";
        return false;
    }
    Diagnostic problem;
    os::Fd node(fcntl(std::atoi(variable("ZIPMPI_NODE_FD").c_str()), F_DUPFD_CLOEXEC, 3));
    if (!node || !segment::NodeSegment::attach(std::move(node), p.segment, problem)) {
        why = "ZIPMPI_NODE_FD is not the node segment of a job";
        return false;
    }
    p.launcher = boot::open_pmi(pmi, false, p.identity, why);
    p.identity.rank = bridge::gateway_id(p.identity.size, p.number);
    return p.launcher != nullptr && p.segment.nodes() == p.cluster_map.nodes.size();
}

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

// The search in one network, during which partners may be killed and restarted. A gateway in several networks
// has one thread per search; they share the launcher connection.
struct SearchThread {
    GatewayContext* context;
    ClusterSearch* search;
    std::mutex* launcher_mutex;

    static std::string current_addresses(void* subject) {
        const auto& [context, search, launcher_mutex] = *static_cast<SearchThread*>(subject);
        const std::lock_guard<std::mutex> guard(*launcher_mutex);
        std::string addresses;
        const std::string key = bridge::probe_key(search->cluster);
        return context->launcher->get(search->partners.next, key, addresses) ? addresses : std::string();
    }
    static void publish_found(void* subject, const std::string& devices) {
        const auto& [context, search, launcher_mutex] = *static_cast<SearchThread*>(subject);
        const std::lock_guard<std::mutex> guard(*launcher_mutex);
        static_cast<void>(context->launcher->put(devices_key(search->cluster), devices));
    }
};

// Ranks publish their address after their search. A get of a key that a gateway has not put would block.
bool search_complete(GatewayContext& p, const ClusterSearch& n) {
    std::vector<int> others = n.partners.incoming;
    others.push_back(n.partners.next);
    return std::ranges::all_of(others, [&](int id) {
        return id >= p.identity.size ? !n.devices.empty() : !boot::fetch_address(*p.launcher, id).empty();
    });
}

bool run_search(GatewayContext& p, ClusterSearch& n, std::mutex& turn) {
    SearchThread searching{&p, &n, &turn};
    transport::DeviceProbe::ProbeRequest with{n.partners.next, n.next_addresses, n.partners.incoming,
                                              probe_limit_ms, &searching};
    with.found = SearchThread::publish_found;
    if (n.partners.next >= p.identity.size) with.current_addresses = SearchThread::current_addresses;
    if (p.epoch > 1)
        with.is_complete = [](void* subject) {
            const auto& [context, search, mutex] = *static_cast<SearchThread*>(subject);
            const std::lock_guard<std::mutex> guard(*mutex);
            return search_complete(*context, *search);
        };
    return n.probe->run(with);
}

std::vector<int> first_ranks(const GatewayContext& p) {
    std::vector<int> first(p.cluster_map.nodes.size(), -1);
    for (int rank = p.identity.size - 1; rank >= 0; --rank) first[p.segment.node_of(rank)] = rank;
    return first;
}

// All probing processes wait for their partners, so this is done even if devices are configured, or were
// found by the previous instance of this gateway.
bool find_devices(GatewayContext& p, std::vector<ClusterSearch>& networks, std::string& why) {
    for (const bridge::Attachment& a : p.cluster_map.gateways[static_cast<size_t>(p.number)].attached)
        networks.push_back({a.cluster, a.devices,
                            bridge::probe_partners(p.cluster_map, a.cluster, first_ranks(p), p.identity.size,
                                                   p.identity.rank),
                            nullptr});
    for (ClusterSearch& n : networks) {
        n.probe.reset(transport::ucx::open_probe(p.identity.rank, p.segment.header().job_key, why));
        if (n.probe == nullptr) return false;
        static_cast<void>(p.launcher->put(bridge::probe_key(n.cluster), n.probe->listen()));
    }
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
            searches.emplace_back([&p, &n, &turn] { n.found = run_search(p, n, turn); });
    for (std::thread& one : searches) one.join();
    for (ClusterSearch& n : networks) {
        if (n.state == ClusterSearch::not_needed) continue;
        if (n.devices.empty()) n.devices = n.probe->devices();
        if (n.devices.empty()) {
            why = "no device reaches cluster " + p.cluster_map.clusters[static_cast<size_t>(n.cluster)].name +
                  ": " + (n.found ? "" : n.probe->log());
            return false;
        }
        static_cast<void>(p.launcher->put(devices_key(n.cluster), n.devices));
        n.probe.reset();
    }
    return true;
}

struct KvsResolver {
    GatewayContext* context;
    int cluster;
};

std::string resolve_address(void* subject, int id) {
    const KvsResolver& b = *static_cast<KvsResolver*>(subject);
    if (id >= b.context->identity.size)
        return boot::fetch_address(*b.context->launcher, id, bridge::address_key(b.cluster));
    const auto& clusters = b.context->cluster_map.nodes[b.context->segment.node_of(id)].clusters;
    return clusters.size() < 2
               ? boot::fetch_address(*b.context->launcher, id)
               : boot::fetch_address(*b.context->launcher, id, bridge::address_key(b.cluster));
}

int end_event = -1; // written on SIGTERM, in any thread

void serve(gateway::Forwarder& forwarder, gateway::GatewayLinks& links, int pmi) {
    const os::Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int fd, uint64_t key, uint32_t events) {
        epoll_event e{};
        e.events = events;
        e.data.u64 = key;
        epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &e);
    };
    constexpr uint64_t shutdown_key = gateway::GatewayLinks::first_key - 1;
    constexpr uint64_t key_of_launcher = gateway::GatewayLinks::first_key - 2; // below: networks
    links.register_listeners(epoll.get());
    uint64_t networks = 0;
    for (const int fd : forwarder.descriptors()) watch(fd, networks++, EPOLLIN);
    const os::Fd shutdown_event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    watch(shutdown_event.get(), shutdown_key, EPOLLIN);
    end_event = shutdown_event.get();
    struct sigaction on_sigterm {};
    on_sigterm.sa_handler = [](int) {
        const uint64_t one = 1;
        static_cast<void>(!write(end_event, &one, sizeof one));
    };
    sigaction(SIGTERM, &on_sigterm, nullptr);
    watch(pmi, key_of_launcher, EPOLLRDHUP);
    uint64_t last_ns = os::now_ns();
    for (;;) {
        const bool spins =
            bridge::gateway_spin_ns() != 0 && os::now_ns() - last_ns < bridge::gateway_spin_ns();
        if (forwarder.progress(spins) != 0 && bridge::gateway_spin_ns() != 0) last_ns = os::now_ns();
        links.flush();
        if (spins) continue;
        // arm() reports pending work, so another poll would be a wasted system call.
        const int again_ms = links.maintain(epoll.get());
        const int wait_ms = !forwarder.arm() ? 0 : again_ms < 0 ? 1000 : again_ms;
        epoll_event events[64];
        const int n = epoll_wait(epoll.get(), events, 64, wait_ms);
        for (int i = 0; i < n; ++i) {
            const uint64_t key = events[i].data.u64;
            if (links.owns(key))
                links.on_event(epoll.get(), key, events[i].events);
            else if (key == shutdown_key || (key == key_of_launcher && (events[i].events & EPOLLIN) == 0))
                return; // terminated, or the launcher exited
            else if (key < networks)
                forwarder.ready(key);
        }
        for (uint64_t i = 0; n == 0 && i < networks; ++i) forwarder.ready(i); // in case an event was missed
    }
}

// Exposes the statistics to other processes; private memory if no memory file is available.
class StatsFile {
  public:
    explicit StatsFile(const GatewayContext& p)
        : file_(os::make_memory_file(gateway::stats_file_name, sizeof(gateway::GatewayStats)))
        , map_(file_.get(), sizeof(gateway::GatewayStats))
        , stats_(new (map_ ? map_.base() : spare_) gateway::GatewayStats) {
        stats_->number = static_cast<uint32_t>(p.number);
        std::snprintf(stats_->job_id, sizeof stats_->job_id, "%s", p.job_id.c_str());
        const bridge::GatewaySpec& me = p.cluster_map.gateways[static_cast<size_t>(p.number)];
        for (size_t i = 0; i < me.attached.size(); ++i)
            name(stats_->network(static_cast<int>(i)), "cluster",
                 p.cluster_map.clusters[static_cast<size_t>(me.attached[i].cluster)].name);
        for (size_t i = 0; i < me.links.size(); ++i)
            name(stats_->link(static_cast<int>(i)), "gateway",
                 p.cluster_map.gateways[static_cast<size_t>(me.links[i].to_gateway)].host);
    }
    [[nodiscard]] gateway::GatewayStats& operator*() const { return *stats_; }

  private:
    static void name(gateway::PortCounters& port, const char* kind, const std::string& what) {
        std::snprintf(port.name, sizeof port.name, "%s %s", kind, what.c_str());
    }
    os::Fd file_;
    os::Mapping map_;
    alignas(gateway::GatewayStats) std::byte spare_[sizeof(gateway::GatewayStats)];
    gateway::GatewayStats* stats_;
};

void print_stats(const GatewayContext& context, const gateway::GatewayCounters& c) {
    const auto n = [](const std::atomic<uint64_t>& counter) {
        return static_cast<unsigned long long>(counter.load(std::memory_order_relaxed));
    };
    std::fprintf(
        stderr,
        "zipmpi-gateway: gateway %d on host %s forwarded %llu messages in %llu frames (%llu of them control) "
        "with %llu bytes; buffered at most %llu bytes; dropped %llu, rejected %llu frames\n",
        context.number, os::host_name().c_str(), n(c.messages), n(c.frames), n(c.control), n(c.bytes),
        n(c.max_buffered_bytes), n(c.dropped), n(c.rejected));
}

} // namespace

// Memory of frames is reused immediately: returning it to the kernel costs more than forwarding.
static constexpr int kept_memory = 64 << 20;

int main() {
    os::set_malloc_trim_threshold(kept_memory);
    std::signal(SIGPIPE, SIG_IGN); // splice() would raise it
    for (const char* name : {"ZIPMPI_NODE_FD", "ZIPMPI_JOB_ID", "ZIPMPI_CLUSTERS", "ZIPMPI_GATEWAY",
                             "ZIPMPI_GATEWAY_EPOCH", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES"})
        declare_internal_variable(name);
    load_params(environ); // ranks report invalid settings
    GatewayContext context;
    std::string why;
    if (!read_context(context, why)) return fail_with(why, start_hint);
    std::vector<ClusterSearch> networks;
    if (!find_devices(context, networks, why))
        return fail_with(
            why,
            "check that this host reaches the nodes of its clusters, or name devices in the cluster file");
    const StatsFile stats(context);
    gateway::GatewayConfig setting{context.cluster_map,
                                   context.number,
                                   context.identity.size,
                                   bridge::job_number(context.job_id),
                                   bridge::gateway_buffer_limit(),
                                   [&](int rank) { return static_cast<int>(context.segment.node_of(rank)); },
                                   context.segment.header().job_key};
    gateway::Forwarder forwarder(std::move(setting), *stats);
    std::vector<KvsResolver> books;
    books.reserve(networks.size());
    for (const ClusterSearch& n : networks) {
        books.push_back({&context, n.cluster});
        if (!forwarder.open(n.cluster, n.devices, {&books.back(), resolve_address}, why))
            return fail_with(why + " (cluster " +
                                 context.cluster_map.clusters[static_cast<size_t>(n.cluster)].name +
                                 ", devices " + n.devices + ")",
                             "install UCX (Debian: libucx0) and a ZipMPI that was built with it");
    }
    for (const ClusterSearch& n : networks)
        if (!boot::publish_address(*context.launcher, forwarder.address(n.cluster),
                                   bridge::address_key(n.cluster)))
            return fail_with("the launcher did not accept the address of this gateway", start_hint);
    static_cast<void>(context.launcher->put("epoch", std::to_string(context.epoch)));
    if (context.epoch > 1) forwarder.connect_all();
    gateway::GatewayLinks links(
        forwarder, {[&](int other, int link) {
                        std::string address;
                        const int id = bridge::gateway_id(context.identity.size, other);
                        return context.launcher->get(id, "link." + std::to_string(link), address)
                                   ? address
                                   : std::string();
                    },
                    [&](int link, const std::string& address) {
                        static_cast<void>(context.launcher->put("link." + std::to_string(link), address));
                    }});
    if (!links.listen(why))
        return fail_with(why, "give the link an address of this host in the cluster file");
    serve(forwarder, links, std::atoi(variable("PMI_FD").c_str()));
    if (bridge::gateway_prints_stats()) print_stats(context, (*stats).totals);
    return 0;
}
