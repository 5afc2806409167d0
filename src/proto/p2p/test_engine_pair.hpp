// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Test fixture: two progress engines on one node segment, driven by one thread.
#pragma once

#include "proto/p2p/progress_engine.hpp"
#include "proto/team.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <unistd.h>

namespace zipmpi::proto {

struct EnginePair {
    segment::NodeSegment segment;
    std::unique_ptr<ProgressEngine> engines[2];
    Team teams[2];
    // cma_copies: whether the two may read each other's memory
    explicit EnginePair(bool cma_copies = false) {
        Diagnostic why;
        EXPECT_TRUE(segment::NodeSegment::make("test", {0, 1}, 2, segment, why)) << format(why);
        segment.set_usable_cpus(2); // independent of this machine
        for (int r = 0; r < 2; ++r) {
            if (cma_copies) segment.block(static_cast<uint32_t>(r)).pid.store(getpid());
            engines[r] = std::make_unique<ProgressEngine>(segment, static_cast<uint32_t>(r), r);
            teams[r] = Team{engines[r].get(), 2, r, 2, RankMap(0), 0};
        }
    }
    void progress_until_idle() {
        while (engines[0]->progress() + engines[1]->progress() > 0) {
        }
    }
};

} // namespace zipmpi::proto
