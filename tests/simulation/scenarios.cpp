// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "scenarios.hpp"

#include "bridge_job.hpp"
#include "control_job.hpp"

#include "base/param.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::simulation {
namespace {

// Small limits, which few messages exceed.
void set_params() {
    static std::string credit = "ZIPMPI_GATEWAY_RANK_CREDIT=" + std::to_string(rank_credit);
    static char* environment[] = {credit.data(), nullptr};
    static const bool loaded = [] {
        load_params(environment);
        return true;
    }();
    static_cast<void>(loaded);
}

std::string run_bridge(uint64_t seed, Trace trace) {
    set_params();
    return BridgeJob(seed, trace).run();
}

std::string run_control(uint64_t seed, Trace trace) { return ControlJob(seed, trace).run(); }

constexpr Scenario all[] = {{"bridge", run_bridge}, {"control", run_control}};

} // namespace

std::span<const Scenario> scenarios() { return all; }

const Scenario* find_scenario(const char* name) {
    const auto found =
        std::ranges::find_if(all, [&](const Scenario& s) { return std::strcmp(s.name, name) == 0; });
    return found != std::end(all) ? found : nullptr;
}

} // namespace zipmpi::simulation
