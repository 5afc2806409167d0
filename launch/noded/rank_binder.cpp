// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/rank_binder.hpp"

#include "launch/clusters/reachability.hpp"
#include "launch/noded/affinity.hpp"
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

RankBinder::RankBinder(NodeJob& job, EventLoop& loop, ParentLink& parent, JobLifecycle& lifecycle,
                       RankProcesses& ranks)
    : job_(job)
    , loop_(loop)
    , parent_(parent)
    , lifecycle_(lifecycle)
    , ranks_(ranks)
    , claims_source_(loop.add_source([this](uint32_t, uint32_t) {
        if (placement_.has_changed()) update_lent_at_ = os::now_ns() + settle_delay;
    })) {}

bool RankBinder::place(Diagnostic& why) {
    if (!placement_.choose(why)) return false;
    if (job_.request().placement.show_map) show_placement();
    if (job_.request().placement.report_bindings) report_bindings();
    if (!job_.is_single_node() && !ranks_.empty()) send_kernel_info();
    watch_claims();
    publish_other_ranks();
    const std::vector<RankCpus>& rank_cpus = placement_.rank_cpus();
    for (uint32_t i = 0; i < rank_cpus.size(); ++i) ranks_[i].cpus = rank_cpus[i].cpus;
    set_localities();
    return true;
}

void RankBinder::watch_claims() {
    if (const int fd = placement_.watch_fd(); fd >= 0) loop_.watch(fd, EPOLLIN, claims_source_);
}

// Bound ranks need not read the topology. A rank with more than one core may bind itself within its share:
// its affinity is read when needed.
void RankBinder::set_localities() {
    const hwtopo::Machine& machine = placement_.machine();
    const std::vector<RankCpus>& rank_cpus = placement_.rank_cpus();
    const bool bound = std::ranges::any_of(rank_cpus, [](const RankCpus& s) { return !s.cpus.empty(); });
    if (!bound || machine.cpus.empty()) return;
    for (uint32_t i = 0; i < rank_cpus.size(); ++i)
        if (!rank_cpus[i].cpus.empty() && rank_cpus[i].cpus == rank_cpus[i].own)
            hwtopo::set_locality(job_.segment(), i, hwtopo::locality_of(machine, rank_cpus[i].cpus));
    hwtopo::set_caches(job_.segment(), machine);
}

void RankBinder::report_bindings() {
    for (const std::string& line : placement_.report(job_.host_in_job())) parent_.report_line(line);
}

void RankBinder::show_placement() {
    HostPlacementView p;
    p.name = job_.host_in_job();
    p.node = job_.node_table().own;
    ClusterReachability reachability;
    reachability.begin(job_.request());
    p.clusters = reachability.clusters_of(p.node);
    p.cores = placement_.cores();
    for (const RankCpus& s : placement_.rank_cpus()) p.rank_cpus.push_back(s.cpus);
    p.ranks = job_.local_ranks();
    PayloadWriter w;
    parent_.send(ControlFrameType::placement_text,
                 w.u32(job_.node()).text(ranks_.empty() ? "" : placement_text(p)).take());
}

// mpiexec finds the nodes that share a machine.
void RankBinder::send_kernel_info() {
    PayloadWriter w;
    const CpuList cpus = placement_.usable_cpus();
    w.u32(job_.node()).text(boot_id()).numbers({cpus.begin(), cpus.end()});
    parent_.send(ControlFrameType::kernel_info, w.take());
}

void RankBinder::on_kernel_share(PayloadReader& r) {
    const CpuAllocator::Share share{r.u32(), r.u32()};
    Diagnostic why;
    if (!r.is_finished() || share.first > share.all || ranks_.size() > share.all - share.first) return;
    if (!lifecycle_.is_running() || lifecycle_.is_interrupted()) return;
    other_ranks_of_job_ = share.all - static_cast<uint32_t>(ranks_.size());
    publish_other_ranks();
    if (placement_.cores().empty()) return; // the ranks are not bound
    if (!placement_.choose_share(share, why)) return lifecycle_.fail(ranks_.world_rank(0), why, 1);
    CoreIndices all(ranks_.size());
    std::iota(all.begin(), all.end(), 0U);
    rebind_ranks(all);
    watch_claims();
    update_lent_at_ = os::now_ns() + settle_delay;
    if (job_.request().placement.report_bindings) report_bindings();
}

// Waiting ranks spin less when all ranks on these CPUs outnumber them. The registry of claims may count the
// other nodes of this job as well, or not have them if hosts are containers.
void RankBinder::publish_other_ranks() {
    if (ranks_.empty()) return;
    const uint32_t others = std::max(other_ranks_of_job_, placement_.other_ranks());
    const bool fit = ranks_.size() + others <= placement_.usable_cpus().size();
    job_.segment().set_other_ranks(fit ? 0 : others);
}

// Updates a rank's locality after a move: message paths depend on what two ranks share.
void RankBinder::rebind(uint32_t local, const CpuList& cpus) {
    RankProcess& r = ranks_[local];
    const CpuList before = r.cpus.empty() ? allowed_cpus() : r.cpus;
    const bool moved = rebind_process(r.pid, before, cpus);
    for (const pid_t pid : descendants_of(r.pid)) rebind_process(pid, before, cpus);
    r.cpus = cpus;
    const hwtopo::Machine& machine = placement_.machine();
    if (moved && !machine.cpus.empty())
        hwtopo::update_locality(job_.segment(), local, hwtopo::locality_of(machine, cpus));
}

void RankBinder::publish_rebinds() { hwtopo::publish_rebinds(job_.segment()); }

void RankBinder::rebind_ranks(const CoreIndices& which) {
    for (const uint32_t i : which) {
        const CpuList& cpus = cpus_of(i);
        if (ranks_[i].live) rebind(i, cpus.empty() ? allowed_cpus() : cpus);
    }
    if (!which.empty()) publish_rebinds();
}

void RankBinder::update_lent_cpus() {
    if (update_lent_at_ == 0 || os::now_ns() < update_lent_at_) return;
    update_lent_at_ = 0;
    if (!lifecycle_.is_running()) return;
    publish_other_ranks();
    rebind_ranks(placement_.update_lent());
}

} // namespace zipmpi::launch
