// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/host_placement.hpp"

#include "launch/placement/by_traffic.hpp"
#include "launch/placement/cores.hpp"

#include "boot/timeouts.hpp"
#include "hwtopo/topology_module.hpp"
#include "os/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace zipmpi::launch {
namespace {

// Further ranks of other jobs need not be counted: waiting ranks no longer spin.
constexpr uint32_t most_others_per_cpu = 4;

// 0: not set.
uint32_t threads_per_rank(const StartRequest& request) {
    std::string value;
    for (const auto& e : request.base_env)
        if (e.rfind("OMP_NUM_THREADS=", 0) == 0) value = e.substr(16);
    for (const auto& e : request.apps[0].env)
        if (e.rfind("OMP_NUM_THREADS=", 0) == 0) value = e.substr(16);
    return static_cast<uint32_t>(std::clamp(std::atoi(value.c_str()), 0, 4096));
}

} // namespace

void HostPlacement::begin(const StartRequest& request, uint32_t node) {
    job_ = &request;
    ranks_ = request.map.ranks_of(node);
    request_.ranks = static_cast<uint32_t>(ranks_.size());
    request_.threads = threads_per_rank(request);
    request_.usable_cores = static_cast<uint32_t>(os::usable_cpus());
    request_.policy = request.placement;
    if (request.placement.strategy == MapStrategy::rank_file) {
        request_.slots.resize(ranks_.size());
        for (const auto& line : request.placement.rank_file)
            if (const auto at = std::ranges::find(ranks_, line.rank); at != ranks_.end())
                request_.slots[static_cast<size_t>(at - ranks_.begin())] = line.cpus;
    }
    by_traffic_ = !request.traffic.empty() && request.placement.bind_to != Unit::none;
    const bool binds = by_traffic_ || should_bind(request_);
    if (ranks_.empty() || !(binds || boot::should_count_other_jobs())) return;
    allocator_.open_claims(claims_path(), std::hash<std::string>()(request.job_id));
    if (!binds) return;
    const bool choice =
        request_.usable_cores > 1 && !requires_binding(request_.policy) && request_.slots.empty();
    if (choice && boot::should_avoid_busy_cpus())
        busy_.begin(static_cast<uint32_t>(allocator_.claims().other_claims().own.size()));
}

bool HostPlacement::read_cores(Diagnostic& why) {
    hwtopo::read_machine(machine_); // without it each CPU counts as a core
    cores_ = allowed_cores(machine_);
    const std::string& wanted = request_.policy.cpu_set;
    CpuList cpus;
    if (wanted.empty()) return true;
    const std::string here = cpu_text(all_cpus(cores_));
    if (parse_cpu_list(wanted, cpus)) cores_ = restrict_to_cpus(cores_, cpus);
    if (!cpus.empty() && !cores_.empty()) return true;
    why = {"the CPUs of --cpu-set cannot be used", "host " + os::host_name(),
           "'" + wanted + "' has none of the CPUs that the job may use on this host: " + here,
           "write for example: --cpu-set 0-3,8"};
    return false;
}

bool HostPlacement::place_ranks(const PlacementRequest& request, const HostCores& cores, Placement& out,
                                Diagnostic& why) {
    if (!by_traffic_) return assign_cpus(request, cores, out, why);
    const auto cpus = assign_cpus_by_traffic(local_traffic_graph(job_->traffic, ranks_), request, cores,
                                             mapping::graph_tools());
    const bool own = uint64_t{request.ranks} * cores_for_rank(request) <= cores.size();
    out = {{}, "by the communication matrix"};
    for (const CpuList& c : cpus) out.rank_cpus.push_back({c, own ? c : CpuList{}});
    return true;
}

bool HostPlacement::choose(Diagnostic& why) { return choose_share({}, why); }

bool HostPlacement::choose_share(CpuAllocator::Share share, Diagnostic& why) {
    const PlacementPolicy& policy = request_.policy;
    const bool binds = by_traffic_ || should_bind(request_);
    const bool needed = binds || policy.show_map || policy.report_bindings || !policy.cpu_set.empty();
    if (needed && cores_.empty() && !read_cores(why)) return false;
    const auto assign = [this](const PlacementRequest& q, const HostCores& c, Placement& out, Diagnostic& p) {
        return place_ranks(q, c, out, p);
    };
    // Other ranks of this job may be running already: they do not count as other work.
    const CpuList busy = share.all == 0 ? busy_.end() : CpuList{};
    // Only cores that are divided by number have shares; a rank file and a matrix name the cores.
    const bool divided = !by_traffic_ && request_.slots.empty();
    if (!allocator_.choose(request_, cores_, busy, assign, divided ? share : CpuAllocator::Share{}, why))
        return false;
    if (!policy.cpu_set.empty()) allocator_.confine_unbound(all_cpus(cores_));
    if (boot::should_count_other_jobs()) allocator_.announce_ranks(usable_cpus());
    return true;
}

CpuList HostPlacement::usable_cpus() const {
    CpuList cpus = cores_.empty() ? allowed_cpus() : all_cpus(cores_);
    std::ranges::sort(cpus);
    return cpus;
}

uint32_t HostPlacement::other_ranks() const {
    if (!boot::should_count_other_jobs()) return 0;
    const CpuList cpus = usable_cpus();
    return allocator_.claims().count_others(cpus, most_others_per_cpu * static_cast<uint32_t>(cpus.size()));
}

std::vector<std::string> HostPlacement::report(const std::string& host) const {
    std::vector<std::string> lines;
    for (size_t i = 0; i < ranks_.size(); ++i)
        lines.push_back(binding_line(ranks_[i], host, rank_cpus()[i], allocator_.reason()));
    return lines;
}

HostCores HostPlacement::claim_all_cores() {
    Diagnostic why;
    if (cores_.empty()) read_cores(why);
    return cores_.empty() ? cores_ : allocator_.claim_all(cores_);
}

} // namespace zipmpi::launch
