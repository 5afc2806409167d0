// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Connections between the ranks of a multi-host job: the tool takes part in the job as a rank.
#include "info.hpp"

#include "core/runtime_state.hpp"
#include "os/host.hpp"
#include "transport/engine.hpp"

#include <cstdlib>
#include <fmt/format.h>

namespace zipmpi::tool {

Json network_facts() {
    if (std::getenv("PMI_FD") == nullptr && std::getenv("PMIX_NAMESPACE") == nullptr) return {{"job", false}};
    const core::Runtime& e = core::start_runtime(core::ThreadLevel::single);
    const wire::SegmentHeader& h = e.segment.header();
    Json facts{{"job", true},
               {"rank", e.job.rank},
               {"host", os::host_name()},
               {"node", h.node},
               {"nodes", h.nodes},
               {"ranks_here", h.local_ranks},
               {"engine", transport::name_of(transport::engine_for(e.network_devices))},
               {"devices", h.devices},
               {"why", h.devices_log}};
    core::shut_down_runtime();
    return facts;
}

std::string network_text(const Json& facts) {
    if (!facts.at("job").get<bool>())
        return "the network is in use only in a job: mpiexec --host a,b zipmpi info --network\n";
    const std::string who =
        fmt::format("rank {} on host {}", facts.at("rank").get<int>(), facts.at("host").get<std::string>());
    if (facts.at("nodes").get<int>() == 1) return who + ": all ranks are on this host, no network is used\n";
    return fmt::format("{}: node {} of {}, {} ranks here\n  engine  {}\n  devices {}\n  why     {}\n", who,
                       facts.at("node").get<int>(), facts.at("nodes").get<int>(),
                       facts.at("ranks_here").get<int>(), facts.at("engine").get<std::string>(),
                       facts.at("devices").get<std::string>(), facts.at("why").get<std::string>());
}

} // namespace zipmpi::tool
