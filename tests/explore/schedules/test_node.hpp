// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of one node, one progress engine each.
#pragma once

#include "base/param.hpp"
#include "proto/progress/wait.hpp"
#include "schedules.hpp"

// Creating a segment takes many system calls: all schedules share one, which is reset to its initial
// contents.
class Node {
  public:
    Node(uint32_t ranks, int cpus) {
        zipmpi::Diagnostic why;
        std::vector<int> all;
        for (uint32_t r = 0; r < ranks; ++r) all.push_back(static_cast<int>(r));
        if (!zipmpi::segment::NodeSegment::make("explore", all, static_cast<int>(ranks), segment_, why))
            std::abort();
        segment_.set_usable_cpus(cpus);
        const std::byte* const base = segment_.at<std::byte>(0);
        fresh_.assign(base, base + segment_.geometry().contexts_offset());
        for (uint32_t r = 0; r < ranks; ++r)
            explore::exclude(&segment_.block(r).recorder, sizeof(zipmpi::Recorder));
        explore::exclude(&segment_.asleep(), sizeof segment_.asleep());
    }
    const zipmpi::segment::NodeSegment& renewed() {
        std::memcpy(segment_.at<std::byte>(0), fresh_.data(), fresh_.size());
        return segment_;
    }

  private:
    zipmpi::segment::NodeSegment segment_;
    std::vector<std::byte> fresh_; // initial contents of all that the transport uses
};

struct SimulatedRanks {
    std::vector<std::unique_ptr<zipmpi::proto::ProgressEngine>> engines;

    SimulatedRanks(uint32_t ranks, int cpus) {
        static Node node(ranks, cpus);
        const zipmpi::segment::NodeSegment& segment = node.renewed();
        for (uint32_t r = 0; r < ranks; ++r)
            engines.push_back(
                std::make_unique<zipmpi::proto::ProgressEngine>(segment, r, cpus < static_cast<int>(ranks)));
    }
};

// Waiting ranks sleep at once, and cells run out quickly.
inline void use_short_settings() {
    const char* const settings[] = {"ZIPMPI_WAIT_SPINS=0",
                                    "ZIPMPI_WAIT_YIELDS=0",
                                    "ZIPMPI_WAIT_NET_SPINS=0",
                                    "ZIPMPI_WAIT_NET_YIELDS=0",
                                    "ZIPMPI_SHM_CELLS_PER_RANK=2",
                                    "ZIPMPI_SHM_CELL_SIZE=4k",
                                    nullptr};
    zipmpi::load_params(settings);
}
