// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement/cpu_allocator.hpp"

#include <algorithm>

namespace zipmpi::launch {
namespace {

CpuList minus(const CpuList& a, const CpuList& b) {
    CpuList left;
    for (const int cpu : a)
        if (std::find(b.begin(), b.end(), cpu) == b.end()) left.push_back(cpu);
    return left;
}

CpuList plus(CpuList a, const CpuList& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    return a;
}

size_t capacity(const PlacementRequest& q, const HostCores& cores) {
    const bool threads = q.policy.map_unit == Unit::hwthread || q.policy.bind_to == Unit::hwthread;
    return threads ? all_cpus(cores).size() : cores.size();
}

// The subset of `cpus` that is among the cores.
CpuList cpus_within(const HostCores& cores, const CpuList& cpus) {
    const CpuList all = all_cpus(cores);
    return minus(cpus, minus(cpus, all));
}

std::string occupied_text(const CpuList& own, const CpuList& busy) {
    std::string text;
    if (!own.empty()) text = "; CPUs " + cpu_text(own) + " belong to other jobs";
    if (!busy.empty()) text += "; CPUs " + cpu_text(busy) + " are busy with other work";
    return text;
}

} // namespace

bool CpuAllocator::lends_cpus() const {
    return shared_ && std::any_of(wanted_.begin(), wanted_.end(),
                                  [](const RankCpus& s) { return s.cpus.size() > s.own.size(); });
}

bool CpuAllocator::choose(const PlacementRequest& q, const HostCores& cores, const CpuList& busy,
                          const AssignFunction& assign, Share share, Diagnostic& why) {
    claims_.begin_update();
    claims_.release_all();
    claimed_ = 0;
    const bool chosen = choose_locked(q, cores, busy, assign, share, why);
    claims_.end_update();
    return chosen;
}

bool CpuAllocator::choose_locked(const PlacementRequest& q, const HostCores& cores, const CpuList& busy,
                                 const AssignFunction& assign, Share share, Diagnostic& why) {
    PlacementRequest all = q;
    if (share.all > q.ranks) all.ranks = share.all;
    const uint64_t wanted = uint64_t{all.ranks} * cores_for_rank(q);
    const bool insisted = requires_binding(q.policy) || !q.slots.empty();
    for (CpuList conflicts;;) { // CPUs that another job has claimed in the meantime
        CpuClaims::OtherClaims others = claims_.other_claims();
        if (share.all > 0) others.own = minus(others.own, others.siblings);
        const CpuList own = cpus_within(cores, plus(others.own, conflicts));
        const CpuList work = insisted ? CpuList{} : minus(cpus_within(cores, busy), own);
        const HostCores free = exclude_cpus(cores, plus(own, work));
        // Nodes that share a machine must all divide the same set of cores.
        const HostCores unused = share.all > 0 ? free : exclude_cpus(free, others.lent);
        const bool fits = capacity(q, free) >= wanted;
        const bool never_fits = capacity(q, cores) < wanted || !q.slots.empty(); // regardless of other jobs
        occupied_ = own;
        if (!fits && !insisted && !never_fits) {
            current_ = wanted_ = std::vector<RankCpus>(q.ranks);
            reason_ = "not bound: " + std::to_string(free.size()) + " of " + std::to_string(cores.size()) +
                      " cores are free" + occupied_text(own, work);
            return true;
        }
        const HostCores& on = !fits || never_fits ? cores : capacity(q, unused) >= wanted ? unused : free;
        Placement placed;
        if (!assign(all, on, placed, why)) return false;
        wanted_.assign(placed.rank_cpus.begin() + share.first,
                       placed.rank_cpus.begin() + share.first + q.ranks);
        reason_ = placed.reason +
                  (fits       ? ""
                   : insisted ? ", shared with other jobs"
                              : "") +
                  occupied_text(own, work);
        shared_ = !insisted;
        const int conflict = claim(others, fits && !never_fits && share.all == 0);
        if (conflict < 0) return true;
        conflicts.push_back(conflict);
    }
}

int CpuAllocator::claim(const CpuClaims::OtherClaims& others, bool must) {
    CpuList own;
    for (const RankCpus& s : wanted_) own = plus(std::move(own), s.own);
    int conflict = -1;
    if (must && !claims_.claim(own, conflict)) return conflict;
    claimed_ = must ? static_cast<uint32_t>(own.size()) : 0;
    if (!must)
        for (const int cpu : own) claimed_ += claims_.claim_one(cpu) ? 1 : 0;
    current_ = wanted_;
    for (RankCpus& s : current_)
        if (shared_) s.cpus = plus(s.own, claims_.borrow(minus(minus(s.cpus, s.own), others.own)));
    return -1;
}

void CpuAllocator::announce_ranks(const CpuList& all) {
    const auto ranks = static_cast<uint32_t>(current_.size());
    CpuList cpus;
    for (const RankCpus& s : current_) {
        if (ranks <= claimed_ || cpus == all) break;
        cpus = s.cpus.empty() ? all : plus(std::move(cpus), s.cpus);
    }
    claims_.announce_ranks(ranks > claimed_ ? ranks - claimed_ : 0, cpus);
}

CoreIndices CpuAllocator::update_lent() {
    CoreIndices changed;
    if (!lends_cpus()) return changed;
    const CpuList claimed = claims_.other_claims().own;
    claims_.release_borrowed();
    for (uint32_t r = 0; r < wanted_.size(); ++r) {
        const RankCpus& w = wanted_[r];
        CpuList cpus = plus(w.own, claims_.borrow(minus(minus(w.cpus, w.own), claimed)));
        if (cpus == current_[r].cpus || w.cpus.empty()) continue;
        current_[r].cpus = std::move(cpus);
        changed.push_back(r);
    }
    return changed;
}

void CpuAllocator::confine_unbound(const CpuList& cpus) {
    for (std::vector<RankCpus>* list : {&wanted_, &current_})
        for (RankCpus& s : *list)
            if (s.cpus.empty()) s.cpus = s.own = cpus;
}

HostCores CpuAllocator::claim_all(const HostCores& cores) {
    CpuList cpus;
    for (const RankCpus& s : current_) cpus = plus(std::move(cpus), s.cpus);
    if (cpus.empty()) {
        const HostCores free = exclude_cpus(cores, occupied_);
        return free.empty() ? cores : free;
    }
    for (const int cpu : cpus) claims_.claim_one(cpu);
    for (RankCpus& s : current_) s.own = s.cpus;
    wanted_ = current_;
    return restrict_to_cpus(cores, cpus);
}

std::string binding_line(uint32_t rank, const std::string& host, const RankCpus& assigned,
                         const std::string& why) {
    return "rank " + std::to_string(rank) + " on host " + host + ": " +
           (assigned.cpus.empty() ? "" : "CPUs " + cpu_text(assigned.cpus) + ": ") + why;
}

} // namespace zipmpi::launch
