// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The transports within a node, and the counters, the flight recorder and the events of this rank.
#pragma once

#include "base/counters.hpp"
#include "base/recorder_layout.hpp"
#include "proto/progress/event_sink.hpp"
#include "transport/cma/copier.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/shm_transport.hpp"

namespace zipmpi::proto {

struct NodeTransports {
    NodeTransports(const segment::NodeSegment& segment, uint32_t local_index)
        : shm(segment, local_index)
        , cma(segment, local_index)
        , arena(segment, local_index) {}

    [[nodiscard]] Counters& counters() { return shm.own_block().counters; }
    [[nodiscard]] Recorder& recorder() { return shm.own_block().recorder; }

    transport::shm::ShmTransport shm;
    transport::cma::Copier cma;
    transport::shm::Arena arena;
    EventSink events;
};

} // namespace zipmpi::proto
