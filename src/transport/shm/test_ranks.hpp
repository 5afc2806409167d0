// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// For tests: a node segment without a launcher, lines to send, and knobs that are set for a while.
#pragma once

#include "base/param.hpp"
#include "boot/node_segment.hpp"
#include "transport/shm/transport.hpp"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace zipmpi::transport::shm {

inline boot::NodeSegment make_segment(uint32_t ranks) {
    boot::NodeSegment segment;
    Problem why;
    std::vector<int> world;
    for (uint32_t i = 0; i < ranks; ++i) world.push_back(static_cast<int>(i));
    EXPECT_TRUE(boot::NodeSegment::make("test", world, static_cast<int>(ranks), segment, why)) << format(why);
    return segment;
}

inline const std::byte* bytes_of(const void* p) { return static_cast<const std::byte*>(p); }

inline wire::Envelope envelope(int tag) { return {wire::Kind::eager, 0, 0, 0, 7, 0, tag, 0}; }

inline uint64_t looks(const Transport& t) { return t.own_block().counters.get(Counter::ring_looks); }

// A knob has this value while this lives.
class WithKnob {
  public:
    WithKnob(std::string_view name, std::string_view value) {
        for (ParamBase* p : all_params())
            if (name == p->name()) knob_ = p;
        before_ = knob_->value_text();
        EXPECT_EQ(knob_->set(value, Origin::tool), "");
    }
    ~WithKnob() { knob_->set(before_, Origin::built_in); }
    WithKnob(const WithKnob&) = delete;
    WithKnob& operator=(const WithKnob&) = delete;

  private:
    ParamBase* knob_ = nullptr;
    std::string before_;
};

// Transports that are made while this lives have queues of this design.
struct WithQueues : WithKnob {
    explicit WithQueues(std::string_view design)
        : WithKnob("shm.queues", design) {}
};

} // namespace zipmpi::transport::shm
