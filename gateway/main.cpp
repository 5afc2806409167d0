// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// zipmpi-gateway: started by zipmpi-noded for a job whose clusters share no network, with what a rank
// inherits. Finds the devices of its clusters, opens their networks, publishes where it is reached, and
// passes frames on until it is ended or its launcher is gone.
#include "base/param.hpp"
#include "base/problem.hpp"
#include "boot/address_book.hpp"
#include "boot/pmi_text.hpp"
#include "bridge/network.hpp"
#include "bridge/ring.hpp"
#include "gateway/forwarder.hpp"
#include "gateway/links.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/memory.hpp"

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
constexpr useconds_t between_asks_us = 2000;
constexpr int most_asks = 30'000; // a minute

struct Place {
    boot::NodeSegment segment;
    boot::PmiIdentity me;
    std::unique_ptr<boot::Launcher> launcher;
    bridge::Grid grid;
    int number = 0;
    int epoch = 1;
    std::string job_id;
};

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
}

int end_with(const std::string& why, const char* todo) {
    report(
        {"a gateway between clusters cannot work", "zipmpi-gateway on host " + os::host_name(), why, todo});
    return 1;
}

constexpr const char* not_by_hand = "gateways are started by mpiexec --grid, not by hand";

bool read_place(Place& p, std::string& why) {
    if (!bridge::parse(variable(bridge::grid_variable), p.grid)) {
        why = "ZIPMPI_GRID describes no grid";
        return false;
    }
    p.number = std::atoi(variable("ZIPMPI_GATEWAY").c_str());
    p.epoch = std::atoi(variable("ZIPMPI_GATEWAY_EPOCH").c_str());
    p.job_id = variable("ZIPMPI_JOB_ID");
    p.me.rank = std::atoi(variable("PMI_RANK").c_str());
    p.me.size = std::atoi(variable("PMI_SIZE").c_str());
    const int pmi = std::atoi(variable("PMI_FD").c_str());
    if (p.number < 0 || p.number >= static_cast<int>(p.grid.gateways.size()) || p.me.size < 1 ||
        p.me.rank != bridge::gateway_id(p.me.size, p.number)) {
        why = "the variables ZIPMPI_GATEWAY, PMI_RANK and PMI_SIZE do not fit together";
        return false;
    }
    Problem problem;
    os::Fd node(fcntl(std::atoi(variable("ZIPMPI_NODE_FD").c_str()), F_DUPFD_CLOEXEC, 3));
    if (!node || !boot::NodeSegment::adopt(std::move(node), p.segment, problem)) {
        why = "ZIPMPI_NODE_FD is no segment of a job";
        return false;
    }
    p.launcher = boot::open_pmi(pmi, false, p.me, why);
    p.me.rank = bridge::gateway_id(p.me.size, p.number);
    return p.launcher != nullptr && p.segment.nodes() == p.grid.nodes.size();
}

// A rank puts its keys when it has come so far.
bool ask(Place& p, int id, const std::string& key, std::string& value) {
    for (int i = 0; i < most_asks; ++i) {
        if (p.launcher->get(id, key, value)) return true;
        usleep(between_asks_us);
    }
    return false;
}

struct Network {
    int cluster;
    std::string devices;
    bridge::Neighbours who;
    std::unique_ptr<transport::ucx::Probe> probe;
    enum { settled, missed, searches } state = settled; // missed: the next one did not say where it is
    std::string next_addresses{};
    bool found = false;
};

std::string devices_key(int cluster) { return "devices." + std::to_string(cluster); }

// The search in one network, while any of those who take part may be killed and started again. Those in
// several networks have threads of their own, and take turns with the launcher.
struct Searching {
    Place* place;
    Network* network;
    std::mutex* turn;

    static std::string addresses_now(void* subject) {
        const auto& [place, network, turn] = *static_cast<Searching*>(subject);
        const std::lock_guard<std::mutex> guard(*turn);
        std::string addresses;
        const std::string key = bridge::probe_key(network->cluster);
        return place->launcher->get(network->who.next, key, addresses) ? addresses : std::string();
    }
    static void found(void* subject, const std::string& devices) {
        const auto& [place, network, turn] = *static_cast<Searching*>(subject);
        const std::lock_guard<std::mutex> guard(*turn);
        static_cast<void>(place->launcher->put(devices_key(network->cluster), devices));
    }
};

// Ranks publish where they are when they have searched. A get of what a gateway has not put would wait.
bool is_over(Place& p, const Network& n) {
    std::vector<int> others = n.who.askers;
    others.push_back(n.who.next);
    return std::ranges::all_of(others, [&](int id) {
        return id >= p.me.size ? !n.devices.empty() : !boot::ask_address(*p.launcher, id).empty();
    });
}

bool search(Place& p, Network& n, std::mutex& turn) {
    Searching searching{&p, &n, &turn};
    transport::ucx::Probe::Search with{n.who.next, n.next_addresses, n.who.askers, probe_limit_ms,
                                       &searching};
    with.found = Searching::found;
    if (n.who.next >= p.me.size) with.addresses_now = Searching::addresses_now;
    if (p.epoch > 1)
        with.is_over = [](void* subject) {
            const auto& [place, network, its_turn] = *static_cast<Searching*>(subject);
            const std::lock_guard<std::mutex> guard(*its_turn);
            return is_over(*place, *network);
        };
    return n.probe->run(with);
}

std::vector<int> first_ranks(const Place& p) {
    std::vector<int> first(p.grid.nodes.size(), -1);
    for (int rank = p.me.size - 1; rank >= 0; --rank) first[p.segment.node_of(rank)] = rank;
    return first;
}

// All who look for devices wait for their neighbours, so this is done even where devices are named, or were
// found by the gateway that was here before.
bool find_devices(Place& p, std::vector<Network>& networks, std::string& why) {
    for (const bridge::Attachment& a : p.grid.gateways[static_cast<size_t>(p.number)].attached)
        networks.push_back({a.cluster, a.devices,
                            bridge::neighbours_in(p.grid, a.cluster, first_ranks(p), p.me.size, p.me.rank),
                            nullptr});
    for (Network& n : networks) {
        n.probe.reset(transport::ucx::open_probe(p.me.rank, p.segment.header().job_key, why));
        if (n.probe == nullptr) return false;
        static_cast<void>(p.launcher->put(bridge::probe_key(n.cluster), n.probe->listen()));
    }
    for (Network& n : networks) {
        if (n.who.next < 0 || (p.epoch > 1 && !n.devices.empty() && is_over(p, n))) continue;
        const bool told = ask(p, n.who.next, bridge::probe_key(n.cluster), n.next_addresses);
        n.state = told ? Network::searches : Network::missed;
    }
    std::mutex turn;                  // with the launcher
    std::deque<std::thread> searches; // in all clusters at once: each waits for others and for its grace
    for (Network& n : networks)
        if (n.state == Network::searches)
            searches.emplace_back([&p, &n, &turn] { n.found = search(p, n, turn); });
    for (std::thread& one : searches) one.join();
    for (Network& n : networks) {
        if (n.state == Network::settled) continue;
        if (n.devices.empty()) n.devices = n.probe->devices();
        if (n.devices.empty()) {
            why = "no device leads into cluster " + p.grid.clusters[static_cast<size_t>(n.cluster)].name +
                  ": " + (n.found ? "" : n.probe->story());
            return false;
        }
        static_cast<void>(p.launcher->put(devices_key(n.cluster), n.devices));
        n.probe.reset();
    }
    return true;
}

struct Book {
    Place* place;
    int cluster;
};

std::string find_in(void* subject, int id) {
    const Book& b = *static_cast<Book*>(subject);
    if (id >= b.place->me.size)
        return boot::ask_address(*b.place->launcher, id, bridge::address_key(b.cluster));
    const auto& clusters = b.place->grid.nodes[b.place->segment.node_of(id)].clusters;
    return clusters.size() < 2 ? boot::ask_address(*b.place->launcher, id)
                               : boot::ask_address(*b.place->launcher, id, bridge::address_key(b.cluster));
}

int end_event = -1; // written to when the gateway is asked to end, in whatever thread that happens

void serve(gateway::Forwarder& forwarder, gateway::Links& links, int pmi) {
    const os::Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int fd, uint64_t key, uint32_t events) {
        epoll_event e{};
        e.events = events;
        e.data.u64 = key;
        epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &e);
    };
    constexpr uint64_t key_of_end = gateway::Links::first_key - 1;
    constexpr uint64_t key_of_launcher = gateway::Links::first_key - 2; // below: networks
    links.serve(epoll.get());
    uint64_t networks = 0;
    for (const int fd : forwarder.descriptors()) watch(fd, networks++, EPOLLIN);
    const os::Fd asked_to_end(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    watch(asked_to_end.get(), key_of_end, EPOLLIN);
    end_event = asked_to_end.get();
    struct sigaction on_end {};
    on_end.sa_handler = [](int) {
        const uint64_t one = 1;
        static_cast<void>(!write(end_event, &one, sizeof one));
    };
    sigaction(SIGTERM, &on_end, nullptr);
    watch(pmi, key_of_launcher, EPOLLRDHUP);
    uint64_t last_ns = os::now_ns();
    for (;;) {
        const bool spins =
            bridge::gateway_spin_ns() != 0 && os::now_ns() - last_ns < bridge::gateway_spin_ns();
        if (forwarder.progress(spins) != 0 && bridge::gateway_spin_ns() != 0) last_ns = os::now_ns();
        links.flush();
        if (spins) continue;
        // What is still there is told at once: another look would be a system call in vain.
        const int again_ms = links.look_after(epoll.get());
        const int wait_ms = !forwarder.arm() ? 0 : again_ms < 0 ? 1000 : again_ms;
        epoll_event events[64];
        const int n = epoll_wait(epoll.get(), events, 64, wait_ms);
        for (int i = 0; i < n; ++i) {
            const uint64_t key = events[i].data.u64;
            if (links.owns(key))
                links.on_event(epoll.get(), key, events[i].events);
            else if (key == key_of_end || (key == key_of_launcher && (events[i].events & EPOLLIN) == 0))
                return; // or the launcher is gone
            else if (key < networks)
                forwarder.ready(key);
        }
        for (uint64_t i = 0; n == 0 && i < networks; ++i) forwarder.ready(i); // if something was not told
    }
}

// Where others can read what this gateway does; within this process only if there is no memory file.
class ShownFile {
  public:
    explicit ShownFile(const Place& p)
        : file_(os::make_memory_file(gateway::shown_name, sizeof(gateway::Shown)))
        , map_(file_.get(), sizeof(gateway::Shown))
        , shown_(new (map_ ? map_.base() : spare_) gateway::Shown) {
        shown_->number = static_cast<uint32_t>(p.number);
        std::snprintf(shown_->job_id, sizeof shown_->job_id, "%s", p.job_id.c_str());
        const bridge::GatewayPlace& me = p.grid.gateways[static_cast<size_t>(p.number)];
        for (size_t i = 0; i < me.attached.size(); ++i)
            name(shown_->network(static_cast<int>(i)), "cluster",
                 p.grid.clusters[static_cast<size_t>(me.attached[i].cluster)].name);
        for (size_t i = 0; i < me.links.size(); ++i)
            name(shown_->link(static_cast<int>(i)), "gateway",
                 p.grid.gateways[static_cast<size_t>(me.links[i].to_gateway)].host);
    }
    [[nodiscard]] gateway::Shown& operator*() const { return *shown_; }

  private:
    static void name(gateway::LaneCounters& lane, const char* kind, const std::string& what) {
        std::snprintf(lane.name, sizeof lane.name, "%s %s", kind, what.c_str());
    }
    os::Fd file_;
    os::Mapping map_;
    alignas(gateway::Shown) std::byte spare_[sizeof(gateway::Shown)];
    gateway::Shown* shown_;
};

void say_what_crossed(const Place& place, const gateway::Counters& c) {
    const auto n = [](const std::atomic<uint64_t>& counter) {
        return static_cast<unsigned long long>(counter.load(std::memory_order_relaxed));
    };
    std::fprintf(
        stderr,
        "zipmpi-gateway: gateway %d on host %s passed on %llu messages in %llu frames (%llu of them about "
        "others) with %llu bytes; at most %llu bytes lay here; dropped %llu, refused %llu frames\n",
        place.number, os::host_name().c_str(), n(c.messages), n(c.frames), n(c.control), n(c.bytes),
        n(c.most_held), n(c.dropped), n(c.refused));
}

} // namespace

// Memory of frames is wanted again at once: returning it to the kernel costs more than passing them on.
static constexpr int kept_memory = 64 << 20;

int main() {
    os::keep_freed_memory(kept_memory);
    std::signal(SIGPIPE, SIG_IGN); // splice() would raise it
    for (const char* name : {"ZIPMPI_NODE_FD", "ZIPMPI_JOB_ID", "ZIPMPI_GRID", "ZIPMPI_GATEWAY",
                             "ZIPMPI_GATEWAY_EPOCH", "ZIPMPI_NODE_INDEX", "ZIPMPI_NODES"})
        declare_plain_variable(name);
    load_params(environ); // ranks say what is wrong with settings
    Place place;
    std::string why;
    if (!read_place(place, why)) return end_with(why, not_by_hand);
    std::vector<Network> networks;
    if (!find_devices(place, networks, why))
        return end_with(
            why, "check that this host reaches the nodes of its clusters, or name devices in the grid");
    const ShownFile shown(place);
    gateway::Setting setting{place.grid,
                             place.number,
                             place.me.size,
                             bridge::job_number(place.job_id),
                             bridge::gateway_pool(),
                             [&](int rank) { return static_cast<int>(place.segment.node_of(rank)); },
                             place.segment.header().job_key};
    gateway::Forwarder forwarder(std::move(setting), *shown);
    std::vector<Book> books;
    books.reserve(networks.size());
    for (const Network& n : networks) {
        books.push_back({&place, n.cluster});
        if (!forwarder.open(n.cluster, n.devices, {&books.back(), find_in}, why))
            return end_with(why + " (cluster " + place.grid.clusters[static_cast<size_t>(n.cluster)].name +
                                ", devices " + n.devices + ")",
                            "install UCX (Debian: libucx0) and a ZipMPI that was built with it");
    }
    for (const Network& n : networks)
        if (!boot::publish_address(*place.launcher, forwarder.address(n.cluster),
                                   bridge::address_key(n.cluster)))
            return end_with("the launcher did not take the address of this gateway", not_by_hand);
    static_cast<void>(place.launcher->put("epoch", std::to_string(place.epoch)));
    if (place.epoch > 1) forwarder.greet_all();
    gateway::Links links(forwarder,
                         {[&](int other, int link) {
                              std::string address;
                              const int id = bridge::gateway_id(place.me.size, other);
                              return place.launcher->get(id, "link." + std::to_string(link), address)
                                         ? address
                                         : std::string();
                          },
                          [&](int link, const std::string& address) {
                              static_cast<void>(place.launcher->put("link." + std::to_string(link), address));
                          }});
    if (!links.listen(why)) return end_with(why, "give the link an address of this host in the grid");
    serve(forwarder, links, std::atoi(variable("PMI_FD").c_str()));
    if (bridge::gateway_reports()) say_what_crossed(place, (*shown).all);
    return 0;
}
