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
        uint64_t messages_before = 0;
        double messages = 0; // per second
        [[nodiscard]] const gateway::Shown& shown() const {
            return *reinterpret_cast<const gateway::Shown*>(map.base());
        }
    };
    static double take(Lane& lane, double seconds); // bytes per second
    [[nodiscard]] std::string line_of(const Lane& lane, size_t columns) const;
    [[nodiscard]] static std::string line_of(const Gateway& gateway);

    std::vector<Gateway> gateways_;
    std::deque<double> sum_; // of all lanes, bytes per second
    bool unicode_;
    uint64_t before_ns_ = 0;
};

} // namespace zipmpi::tool
