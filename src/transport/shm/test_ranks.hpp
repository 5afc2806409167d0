// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Test fixtures: a node segment without a launcher, envelopes, and parameters set for a scope.
#pragma once

#include "base/param.hpp"
#include "segment/node_segment.hpp"
#include "transport/shm/shm_transport.hpp"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace zipmpi::transport::shm {

inline segment::NodeSegment make_segment(uint32_t ranks) {
    segment::NodeSegment segment;
    Diagnostic why;
    std::vector<int> world;
    for (uint32_t i = 0; i < ranks; ++i) world.push_back(static_cast<int>(i));
    EXPECT_TRUE(segment::NodeSegment::make("test", world, static_cast<int>(ranks), segment, why))
        << format(why);
    return segment;
}

inline const std::byte* bytes_of(const void* p) { return static_cast<const std::byte*>(p); }

inline wire::Envelope envelope(int tag) { return {wire::MessageKind::eager, 0, 0, 0, 7, 0, tag, 0}; }

inline uint64_t ring_polls(const ShmTransport& t) { return t.own_block().counters.get(Counter::ring_polls); }

// Sets a parameter for the lifetime of the object.
class ScopedParam {
  public:
    ScopedParam(std::string_view name, std::string_view value) {
        for (ParamBase* p : all_params())
            if (name == p->name()) param_ = p;
        previous_ = param_->value_text();
        EXPECT_EQ(param_->set(value, Origin::tool), "");
    }
    ~ScopedParam() { param_->set(previous_, Origin::built_in); }
    ScopedParam(const ScopedParam&) = delete;
    ScopedParam& operator=(const ScopedParam&) = delete;

  private:
    ParamBase* param_ = nullptr;
    std::string previous_;
};

// Sets the poll mode of transports constructed during its lifetime.
struct ScopedPollMode : ScopedParam {
    explicit ScopedPollMode(std::string_view mode)
        : ScopedParam("shm.poll_mode", mode) {}
};

} // namespace zipmpi::transport::shm
