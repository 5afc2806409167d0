// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The gateways of this host, each with its ports.
#pragma once

#include "gateway/counters.hpp"
#include "os/memory.hpp"
#include "top/job_discovery.hpp"
#include "top/top.hpp"

#include <deque>

namespace zipmpi::tool {

class GatewayView final : public TopView {
  public:
    explicit GatewayView(const TopOptions& options);
    [[nodiscard]] bool found() const { return !gateways_.empty(); }
    bool sample() override;
    std::vector<std::string> lines(size_t rows, size_t columns, size_t& bright) override;
    void key(char) override {}

  private:
    struct PortRate {
        const gateway::PortCounters* counters;
        uint64_t frames_before = 0, bytes_before = 0;
        double frames = 0;        // per second
        std::deque<double> bytes; // per second, the newest last
    };
    struct GatewaySample {
        pid_t pid;
        os::Mapping map;
        std::vector<PortRate> ports;
        uint64_t messages_before = 0;
        double messages = 0; // per second
        [[nodiscard]] const gateway::GatewayStats& stats() const {
            return *reinterpret_cast<const gateway::GatewayStats*>(map.base());
        }
    };
    static double update(PortRate& port, double seconds); // bytes per second
    [[nodiscard]] std::string line_of(const PortRate& port, size_t columns) const;
    [[nodiscard]] static std::string line_of(const GatewaySample& gateway);

    std::vector<GatewaySample> gateways_;
    std::deque<double> total_bytes_; // of all ports, bytes per second
    bool unicode_;
    uint64_t before_ns_ = 0;
};

} // namespace zipmpi::tool
