// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: two lanes of one segment, driven by one thread.
#pragma once

#include "proto/p2p/lane.hpp"
#include "proto/team.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <unistd.h>

namespace zipmpi::proto {

struct Pair {
    boot::NodeSegment segment;
    std::unique_ptr<Lane> lanes[2];
    Team teams[2];
    // The two may read each other's memory, or not.
    explicit Pair(bool kernel_copies = false) {
        Problem why;
        EXPECT_TRUE(boot::NodeSegment::make("test", {0, 1}, 2, segment, why)) << format(why);
        segment.set_usable_cpus(2); // whatever this machine has
        for (int r = 0; r < 2; ++r) {
            if (kernel_copies) segment.block(static_cast<uint32_t>(r)).pid.store(getpid());
            lanes[r] = std::make_unique<Lane>(segment, static_cast<uint32_t>(r), r);
            teams[r] = Team{lanes[r].get(), 2, r, 2, RankMap(0), 0};
        }
    }
    void settle() {
        while (lanes[0]->progress() + lanes[1]->progress() > 0) {
        }
    }
};

} // namespace zipmpi::proto
