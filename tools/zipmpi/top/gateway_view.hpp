// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The gateways of this host: each with its lanes.
#pragma once

#include "gateway/counters.hpp"
#include "os/memory.hpp"
#include "top/jobs.hpp"
#include "top/top.hpp"

#include <deque>

namespace zipmpi::tool {

class GatewayView final : public View {
  public:
    explicit GatewayView(const TopOptions& options);
    [[nodiscard]] bool found() const { return !gateways_.empty(); }
    bool sample() override;
    std::vector<std::string> lines(size_t rows, size_t columns, size_t& bright) override;
    void key(char) override {}

  private:
    struct Lane {
        const gateway::LaneCounters* counters;
        uint64_t frames_before = 0, bytes_before = 0;
        double frames = 0;        // per second
        std::deque<double> bytes; // per second, the newest last
    };
    struct Gateway {
        pid_t pid;
        os::Mapping map;
        std::vector<Lane> lanes;
        [[nodiscard]] const gateway::Shown& shown() const {
            return *reinterpret_cast<const gateway::Shown*>(map.base());
        }
    };
    static void take(Lane& lane, double seconds);
    static std::string line_of(const Lane& lane, size_t columns);

    std::vector<Gateway> gateways_;
    uint64_t before_ns_ = 0;
};

// Heights of the newest values as characters, for a plot of one line.
std::string plot(const std::deque<double>& values, size_t columns);

} // namespace zipmpi::tool
