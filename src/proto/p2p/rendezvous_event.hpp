// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The event of a long message whose path the receiver has chosen.
#pragma once

#include "proto/p2p/operation.hpp"
#include "proto/progress/event_sink.hpp"

namespace zipmpi::proto {

inline void raise_rendezvous_copy(const EventSink& events, const Operation& recv, RendezvousPath path) {
    events.raise(EventType::rendezvous_copy, recv.matched_source, static_cast<int64_t>(recv.received),
                 static_cast<int64_t>(path));
}

} // namespace zipmpi::proto
