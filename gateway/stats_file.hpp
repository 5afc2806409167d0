// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The statistics of a gateway in a file that other processes may map.
#pragma once

#include "gateway/context.hpp"
#include "gateway/counters.hpp"
#include "os/fd.hpp"
#include "os/memory.hpp"

#include <cstdio>
#include <new>

namespace zipmpi::gateway {

// Private memory if no memory file is available.
class StatsFile {
  public:
    explicit StatsFile(const GatewayContext& p)
        : file_(os::make_memory_file(stats_file_name, sizeof(GatewayStats)))
        , map_(file_.get(), sizeof(GatewayStats))
        , stats_(new (map_ ? map_.base() : spare_) GatewayStats) {
        stats_->number = static_cast<uint32_t>(p.number);
        std::snprintf(stats_->job_id, sizeof stats_->job_id, "%s", p.job_id.c_str());
        const bridge::GatewaySpec& me = p.own_spec();
        for (size_t i = 0; i < me.attached.size(); ++i)
            name(stats_->network(static_cast<int>(i)), "cluster", p.cluster_name(me.attached[i].cluster));
        for (size_t i = 0; i < me.links.size(); ++i)
            name(stats_->link(static_cast<int>(i)), "gateway",
                 p.cluster_map.gateways[static_cast<size_t>(me.links[i].to_gateway)].host);
    }
    [[nodiscard]] GatewayStats& operator*() const { return *stats_; }

  private:
    static void name(PortCounters& port, const char* kind, const std::string& what) {
        std::snprintf(port.name, sizeof port.name, "%s %s", kind, what.c_str());
    }
    os::Fd file_;
    os::Mapping map_;
    alignas(GatewayStats) std::byte spare_[sizeof(GatewayStats)];
    GatewayStats* stats_;
};

} // namespace zipmpi::gateway
