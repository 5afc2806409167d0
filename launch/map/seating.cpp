// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/map/seating.hpp"

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

size_t room(const PlacementRequest& q, const HostCores& cores) {
    const bool threads = q.policy.map_unit == Unit::hwthread || q.policy.bind_to == Unit::hwthread;
    return threads ? all_cpus(cores).size() : cores.size();
}

// Those of `cpus` that are among the cores.
CpuList among(const HostCores& cores, const CpuList& cpus) {
    const CpuList all = all_cpus(cores);
    return minus(cpus, minus(cpus, all));
}

std::string taken_text(const CpuList& own, const CpuList& busy) {
    std::string text;
    if (!own.empty()) text = "; CPUs " + cpu_text(own) + " belong to other jobs";
    if (!busy.empty()) text += "; CPUs " + cpu_text(busy) + " are busy with other work";
    return text;
}

} // namespace

bool Seating::lends() const {
    return shared_ && std::any_of(wanted_.begin(), wanted_.end(),
                                  [](const Seat& s) { return s.cpus.size() > s.own.size(); });
}

bool Seating::choose(const PlacementRequest& q, const HostCores& cores, const CpuList& busy,
                     const Place& place, Part part, Problem& why) {
    claims_.enter();
    claims_.give_back();
    const bool chosen = choose_now(q, cores, busy, place, part, why);
    claims_.leave();
    return chosen;
}

bool Seating::choose_now(const PlacementRequest& q, const HostCores& cores, const CpuList& busy,
                         const Place& place, Part part, Problem& why) {
    PlacementRequest all = q;
    if (part.all > q.ranks) all.ranks = part.all;
    const uint64_t wanted = uint64_t{all.ranks} * cores_each(q);
    const bool insisted = insists(q.policy) || !q.slots.empty();
    for (CpuList met;;) { // CPUs that somebody has taken while we looked
        CpuClaims::Others others = claims_.others();
        if (part.all > 0) others.own = minus(others.own, others.siblings);
        const CpuList own = among(cores, plus(others.own, met));
        const CpuList work = insisted ? CpuList{} : minus(among(cores, busy), own);
        const HostCores free = without(cores, plus(own, work));
        // Nodes that divide the cores must all divide the same ones.
        const HostCores unused = part.all > 0 ? free : without(free, others.lent);
        const bool fits = room(q, free) >= wanted;
        const bool hopeless = room(q, cores) < wanted || !q.slots.empty(); // with or without others
        taken_ = own;
        if (!fits && !insisted && !hopeless) {
            now_ = wanted_ = std::vector<Seat>(q.ranks);
            why_ = "not bound: " + std::to_string(free.size()) + " of " + std::to_string(cores.size()) +
                   " cores are free" + taken_text(own, work);
            return true;
        }
        const HostCores& on = !fits || hopeless ? cores : room(q, unused) >= wanted ? unused : free;
        Placement placed;
        if (!place(all, on, placed, why)) return false;
        wanted_.assign(placed.seats.begin() + part.first, placed.seats.begin() + part.first + q.ranks);
        why_ = placed.why + (fits ? "" : insisted ? ", shared with others" : "") + taken_text(own, work);
        shared_ = !insisted;
        const int conflict = claim(others, fits && !hopeless && part.all == 0);
        if (conflict < 0) return true;
        met.push_back(conflict);
    }
}

int Seating::claim(const CpuClaims::Others& others, bool must) {
    CpuList own;
    for (const Seat& s : wanted_) own = plus(std::move(own), s.own);
    int conflict = -1;
    if (must && !claims_.take(own, conflict)) return conflict;
    if (!must)
        for (const int cpu : own) claims_.add(cpu);
    now_ = wanted_;
    for (Seat& s : now_)
        if (shared_) s.cpus = plus(s.own, claims_.borrow(minus(minus(s.cpus, s.own), others.own)));
    return -1;
}

CoreNumbers Seating::settle() {
    CoreNumbers changed;
    if (!lends()) return changed;
    const CpuList theirs = claims_.others().own;
    claims_.give_back_lent();
    for (uint32_t r = 0; r < wanted_.size(); ++r) {
        const Seat& w = wanted_[r];
        CpuList cpus = plus(w.own, claims_.borrow(minus(minus(w.cpus, w.own), theirs)));
        if (cpus == now_[r].cpus || w.cpus.empty()) continue;
        now_[r].cpus = std::move(cpus);
        changed.push_back(r);
    }
    return changed;
}

void Seating::keep_within(const CpuList& cpus) {
    for (std::vector<Seat>* seats : {&wanted_, &now_})
        for (Seat& s : *seats)
            if (s.cpus.empty()) s.cpus = s.own = cpus;
}

HostCores Seating::keep_all(const HostCores& cores) {
    CpuList cpus;
    for (const Seat& s : now_) cpus = plus(std::move(cpus), s.cpus);
    if (cpus.empty()) {
        const HostCores free = without(cores, taken_);
        return free.empty() ? cores : free;
    }
    for (const int cpu : cpus) claims_.add(cpu);
    for (Seat& s : now_) s.own = s.cpus;
    wanted_ = now_;
    return only(cores, cpus);
}

std::string binding_line(uint32_t rank, const std::string& host, const Seat& seat, const std::string& why) {
    return "rank " + std::to_string(rank) + " on host " + host + ": " +
           (seat.cpus.empty() ? "" : "CPUs " + cpu_text(seat.cpus) + ": ") + why;
}

} // namespace zipmpi::launch
