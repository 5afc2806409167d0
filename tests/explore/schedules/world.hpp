// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of one node, one lane each.
#pragma once

#include "base/param.hpp"
#include "proto/progress/wait.hpp"
#include "schedules.hpp"
#include "transport/bulk.hpp"

// Making a segment takes many system calls: all schedules use one, which begins as it was.
class Node {
  public:
    Node(uint32_t ranks, int cpus) {
        zipmpi::Problem why;
        std::vector<int> all;
        for (uint32_t r = 0; r < ranks; ++r) all.push_back(static_cast<int>(r));
        if (!zipmpi::boot::NodeSegment::make("explore", all, static_cast<int>(ranks), segment_, why))
            std::abort();
        segment_.set_usable_cpus(cpus);
        const std::byte* const base = segment_.at<std::byte>(0);
        fresh_.assign(base, base + segment_.geometry().contexts_offset());
        for (uint32_t r = 0; r < ranks; ++r)
            explore::leave_out(&segment_.block(r).recorder, sizeof(zipmpi::Recorder));
        explore::leave_out(&segment_.asleep(), sizeof segment_.asleep());
        explore::leave_out(&zipmpi::transport::bulk_passes, sizeof zipmpi::transport::bulk_passes);
    }
    const zipmpi::boot::NodeSegment& renewed() {
        std::memcpy(segment_.at<std::byte>(0), fresh_.data(), fresh_.size());
        return segment_;
    }

  private:
    zipmpi::boot::NodeSegment segment_;
    std::vector<std::byte> fresh_; // with all that the transport uses
};

struct World {
    std::vector<std::unique_ptr<zipmpi::proto::Lane>> lanes;

    World(uint32_t ranks, int cpus) {
        static Node node(ranks, cpus);
        const zipmpi::boot::NodeSegment& segment = node.renewed();
        for (uint32_t r = 0; r < ranks; ++r)
            lanes.push_back(
                std::make_unique<zipmpi::proto::Lane>(segment, r, cpus < static_cast<int>(ranks)));
    }
};

// Whoever waits sleeps at once, and soon there is no free cell.
inline void use_short_settings() {
    const char* const settings[] = {"ZIPMPI_WAIT_SPINS=0",
                                    "ZIPMPI_WAIT_YIELDS=0",
                                    "ZIPMPI_NET_SPINS=0",
                                    "ZIPMPI_NET_YIELDS=0",
                                    "ZIPMPI_SHM_CELLS=2",
                                    "ZIPMPI_SHM_CELL_SIZE=4k",
                                    nullptr};
    zipmpi::load_params(settings);
}
