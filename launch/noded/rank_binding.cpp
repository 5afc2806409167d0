// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Chooses and reports the CPUs of the ranks, and moves ranks when other jobs start or end.
#include "launch/clusters/reachability.hpp"
#include "launch/noded/affinity.hpp"
#include "launch/noded/daemon.hpp"
#include "launch/noded/descendants.hpp"
#include "launch/placement/cores.hpp"
#include "launch/placement/placement_text.hpp"

#include "hwtopo/node_locality.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <numeric>
#include <sys/epoll.h>

namespace zipmpi::launch {
namespace {

constexpr uint64_t settle_delay =
    20'000'000; // ns: coalesces changes, and covers the release of locks of a dead job

} // namespace

bool Daemon::place_ranks(Diagnostic& why) {
    if (!placement_.choose(why)) return false;
    if (request_.placement.show_map) show_placement();
    if (request_.placement.report_bindings) report_bindings();
    if (!is_single_node() && !ranks_.empty()) send_kernel_info();
    if (const int fd = placement_.watch_fd(); fd >= 0) watch(epoll_.get(), fd, EPOLLIN, Source::claims);
    const hwtopo::Machine& machine = placement_.machine();
    const std::vector<RankCpus>& rank_cpus = placement_.rank_cpus();
    for (uint32_t i = 0; i < rank_cpus.size(); ++i) ranks_[i].cpus = rank_cpus[i].cpus;
    const bool bound = std::ranges::any_of(rank_cpus, [](const RankCpus& s) { return !s.cpus.empty(); });
    if (!bound || machine.cpus.empty()) return true;
    // Bound ranks need not read the topology. A rank with more than one core may bind itself within its
    // share: its affinity is read when needed.
    for (uint32_t i = 0; i < rank_cpus.size(); ++i)
        if (!rank_cpus[i].cpus.empty() && rank_cpus[i].cpus == rank_cpus[i].own)
            hwtopo::set_locality(segment_, i, hwtopo::locality_of(machine, rank_cpus[i].cpus));
    hwtopo::set_caches(segment_, machine);
    return true;
}

void Daemon::report_bindings() {
    for (const std::string& line :
         placement_.report(is_single_node() ? host_ : request_.tree.hosts[range_.node]))
        report_line(line);
}

void Daemon::show_placement() {
    HostPlacementView p;
    p.name = is_single_node() ? host_ : request_.tree.hosts[range_.node];
    p.node = node_table().own;
    ClusterReachability reachability;
    reachability.begin(request_);
    p.clusters = reachability.clusters_of(p.node);
    p.cores = placement_.cores();
    for (const RankCpus& s : placement_.rank_cpus()) p.rank_cpus.push_back(s.cpus);
    for (const RankProcess& r : ranks_) p.ranks.push_back(r.world_rank);
    PayloadWriter w;
    parent_.send(ControlFrameType::placement_text,
                 w.u32(range_.node).text(ranks_.empty() ? "" : placement_text(p)).take());
}

// mpiexec finds the nodes that share a machine.
void Daemon::send_kernel_info() {
    PayloadWriter w;
    const CpuList cpus = all_cpus(placement_.cores());
    w.u32(range_.node).text(boot_id()).numbers({cpus.begin(), cpus.end()});
    parent_.send(ControlFrameType::kernel_info, w.take());
}

void Daemon::on_kernel_share(const ControlFrame& f) {
    PayloadReader r(f.payload);
    const uint32_t node = r.u32();
    if (node != range_.node) {
        subtree_.send_to_node(node, f.type, f.payload);
        return;
    }
    const CpuAllocator::Share share{r.u32(), r.u32()};
    Diagnostic why;
    if (!r.is_finished() || share.first > share.all || ranks_.size() > share.all - share.first) return;
    if (phase_ != Phase::running || interrupted_) return;
    if (!placement_.choose_share(share, why)) return fail(0, 1, format(why, "mpiexec"));
    CoreIndices all(ranks_.size());
    std::iota(all.begin(), all.end(), 0U);
    rebind_ranks(all);
    if (const int fd = placement_.watch_fd(); fd >= 0) watch(epoll_.get(), fd, EPOLLIN, Source::claims);
    update_lent_at_ = os::now_ns() + settle_delay;
    if (request_.placement.report_bindings) report_bindings();
}

// Updates a rank's locality after a move: message paths depend on what two ranks share.
void Daemon::rebind_rank(uint32_t local, const CpuList& cpus) {
    const CpuList before = ranks_[local].cpus.empty() ? allowed_cpus() : ranks_[local].cpus;
    const bool moved = rebind_process(ranks_[local].pid, before, cpus);
    for (const pid_t pid : descendants_of(ranks_[local].pid)) rebind_process(pid, before, cpus);
    ranks_[local].cpus = cpus;
    const hwtopo::Machine& machine = placement_.machine();
    if (moved && !machine.cpus.empty())
        hwtopo::update_locality(segment_, local, hwtopo::locality_of(machine, cpus));
}

void Daemon::rebind_ranks(const CoreIndices& which) {
    for (const uint32_t i : which) {
        const CpuList& cpus = placement_.rank_cpus()[i].cpus;
        if (ranks_[i].live) rebind_rank(i, cpus.empty() ? allowed_cpus() : cpus);
    }
    if (!which.empty()) hwtopo::publish_rebinds(segment_);
}

void Daemon::on_claims() {
    if (placement_.has_changed()) update_lent_at_ = os::now_ns() + settle_delay;
}

void Daemon::update_lent_cpus() {
    if (update_lent_at_ == 0 || os::now_ns() < update_lent_at_) return;
    update_lent_at_ = 0;
    if (phase_ == Phase::running) rebind_ranks(placement_.update_lent());
}

} // namespace zipmpi::launch
