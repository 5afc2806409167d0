// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/host_placement.hpp"

#include "launch/map/by_matrix.hpp"
#include "launch/map/cores.hpp"

#include "boot/limits.hpp"
#include "os/host.hpp"
#include "topo/module.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace zipmpi::launch {
namespace {

// 0: nothing is said.
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
    by_talk_ = !request.talk.empty() && request.placement.bind_to != Unit::none;
    if (ranks_.empty() || !(by_talk_ || wants_binding(request_))) return;
    seating_.use(claims_path(), std::hash<std::string>()(request.job_id));
    const bool choice = request_.usable_cores > 1 && !insists(request_.policy) && request_.slots.empty();
    if (choice && boot::avoids_busy_cpus())
        busy_.begin(static_cast<uint32_t>(seating_.claims().others().own.size()));
}

bool HostPlacement::read_cores(Problem& why) {
    topo::read_machine(machine_); // without it each CPU counts as a core
    cores_ = allowed_cores(machine_);
    const std::string& wanted = request_.policy.cpu_set;
    CpuList cpus;
    if (wanted.empty()) return true;
    const std::string here = cpu_text(all_cpus(cores_));
    if (parse_cpu_list(wanted, cpus)) cores_ = only(cores_, cpus);
    if (!cpus.empty() && !cores_.empty()) return true;
    why = {"the CPUs of --cpu-set cannot be used", "host " + os::host_name(),
           "'" + wanted + "' names none of the CPUs that the job may use here, which are " + here,
           "write for example: --cpu-set 0-3,8"};
    return false;
}

bool HostPlacement::place_ranks(const PlacementRequest& request, const HostCores& cores, Placement& out,
                                Problem& why) {
    if (!by_talk_) return place(request, cores, out, why);
    const auto cpus = place_by(graph_of(job_->talk, ranks_), request, cores, mapping::graph_tools());
    const bool own = uint64_t{request.ranks} * cores_each(request) <= cores.size();
    out = {{}, "by the communication matrix"};
    for (const CpuList& c : cpus) out.seats.push_back({c, own ? c : CpuList{}});
    return true;
}

bool HostPlacement::choose(Problem& why) { return divide({}, why); }

bool HostPlacement::divide(Seating::Part part, Problem& why) {
    const PlacementPolicy& policy = request_.policy;
    const bool binds = by_talk_ || wants_binding(request_);
    const bool needed = binds || policy.show_map || policy.report_bindings || !policy.cpu_set.empty();
    if (needed && cores_.empty() && !read_cores(why)) return false;
    const auto place = [this](const PlacementRequest& q, const HostCores& c, Placement& out, Problem& p) {
        return place_ranks(q, c, out, p);
    };
    // Others of this job may run by the time we hear of them: they are not busy with anything else.
    const CpuList busy = part.all == 0 ? busy_.end() : CpuList{};
    // Only cores that are divided by number have parts; a rank file and a matrix name them.
    const bool divided = !by_talk_ && request_.slots.empty();
    if (!seating_.choose(request_, cores_, busy, place, divided ? part : Seating::Part{}, why)) return false;
    if (!policy.cpu_set.empty()) seating_.keep_within(all_cpus(cores_));
    return true;
}

std::vector<std::string> HostPlacement::report(const std::string& host) const {
    std::vector<std::string> lines;
    for (size_t i = 0; i < ranks_.size(); ++i)
        lines.push_back(binding_line(ranks_[i], host, seats()[i], seating_.why()));
    return lines;
}

HostCores HostPlacement::own_cores() {
    Problem why;
    if (cores_.empty()) read_cores(why);
    return cores_.empty() ? cores_ : seating_.keep_all(cores_);
}

} // namespace zipmpi::launch
