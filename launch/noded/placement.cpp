// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The daemon and the CPUs of its ranks: chooses them, says so, and moves ranks when others come or go.
#include "launch/grid/watch.hpp"
#include "launch/map/cores.hpp"
#include "launch/map/picture.hpp"
#include "launch/noded/affinity.hpp"
#include "launch/noded/daemon.hpp"
#include "launch/noded/descendants.hpp"

#include "os/clock.hpp"
#include "topo/node_places.hpp"

#include <algorithm>
#include <numeric>
#include <sys/epoll.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t settle_delay = 20'000'000; // ns: several changes at once, and locks of who has just died

} // namespace

bool Daemon::place_ranks(Problem& why) {
    if (!placement_.choose(why)) return false;
    if (request_.placement.show_map) show_placement();
    if (request_.placement.report_bindings) report_bindings();
    if (!alone() && !ranks_.empty()) say_kernel();
    if (const int fd = placement_.watch(); fd >= 0) watch(epoll_.get(), fd, EPOLLIN, Source::claims);
    const topo::Machine& machine = placement_.machine();
    const std::vector<Seat>& seats = placement_.seats();
    for (uint32_t i = 0; i < seats.size(); ++i) ranks_[i].cpus = seats[i].cpus;
    const bool bound = std::ranges::any_of(seats, [](const Seat& s) { return !s.cpus.empty(); });
    if (!bound || machine.cpus.empty()) return true;
    // Ranks that find their places need not ask for the topology themselves. One that has more than its own
    // core may still bind itself within its share: it is asked when somebody wants to know.
    for (uint32_t i = 0; i < seats.size(); ++i)
        if (!seats[i].cpus.empty() && seats[i].cpus == seats[i].own)
            topo::set_place(segment_, i, topo::place_of(machine, seats[i].cpus));
    topo::set_caches(segment_, machine);
    return true;
}

void Daemon::report_bindings() {
    for (const std::string& line : placement_.report(alone() ? host_ : request_.tree.hosts[place_.node]))
        say(line);
}

void Daemon::show_placement() {
    HostPicture p;
    p.name = alone() ? host_ : request_.tree.hosts[place_.node];
    p.node = nodes_of_the_job().own;
    GridWatch grid;
    grid.begin(request_);
    p.clusters = grid.clusters_of(p.node);
    p.cores = placement_.cores();
    for (const Seat& s : placement_.seats()) p.placed.push_back(s.cpus);
    for (const Rank& r : ranks_) p.ranks.push_back(r.world);
    Writer w;
    channel_.send(FrameType::picture, w.u32(place_.node).text(ranks_.empty() ? "" : picture(p)).take());
}

// mpiexec finds out which nodes are on one machine.
void Daemon::say_kernel() {
    Writer w;
    const CpuList cpus = all_cpus(placement_.cores());
    w.u32(place_.node).text(boot_id()).numbers({cpus.begin(), cpus.end()});
    channel_.send(FrameType::kernel, w.take());
}

void Daemon::on_shared_kernel(const Frame& f) {
    Reader r(f.payload);
    const uint32_t node = r.u32();
    if (node != place_.node) {
        below_.send_to_node(node, f.type, f.payload);
        return;
    }
    const Seating::Part part{r.u32(), r.u32()};
    Problem why;
    if (!r.finished() || part.first > part.all || ranks_.size() > part.all - part.first) return;
    if (phase_ != Phase::running || interrupted_) return;
    if (!placement_.divide(part, why)) return fail(0, 1, format(why, "mpiexec"));
    CoreNumbers all(ranks_.size());
    std::iota(all.begin(), all.end(), 0U);
    move_to_seats(all);
    if (const int fd = placement_.watch(); fd >= 0) watch(epoll_.get(), fd, EPOLLIN, Source::claims);
    settle_at_ = os::now_ns() + settle_delay;
    if (request_.placement.report_bindings) report_bindings();
}

// A rank's place follows it: the paths of messages depend on what two ranks share.
void Daemon::move_rank(uint32_t local, const CpuList& cpus) {
    const CpuList before = ranks_[local].cpus.empty() ? allowed_cpus() : ranks_[local].cpus;
    const bool moved = move_process(ranks_[local].pid, before, cpus);
    for (const pid_t pid : descendants_of(ranks_[local].pid)) move_process(pid, before, cpus);
    ranks_[local].cpus = cpus;
    const topo::Machine& machine = placement_.machine();
    if (moved && !machine.cpus.empty()) topo::move_place(segment_, local, topo::place_of(machine, cpus));
}

void Daemon::move_to_seats(const CoreNumbers& which) {
    for (const uint32_t i : which) {
        const CpuList& seat = placement_.seats()[i].cpus;
        if (ranks_[i].live) move_rank(i, seat.empty() ? allowed_cpus() : seat);
    }
    if (!which.empty()) topo::announce_moves(segment_);
}

void Daemon::on_claims() {
    if (placement_.changed()) settle_at_ = os::now_ns() + settle_delay;
}

void Daemon::settle_cores() {
    if (settle_at_ == 0 || os::now_ns() < settle_at_) return;
    settle_at_ = 0;
    if (phase_ == Phase::running) move_to_seats(placement_.settle());
}

} // namespace zipmpi::launch
