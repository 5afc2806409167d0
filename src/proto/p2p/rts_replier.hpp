// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// RtsReplier: replies to an rts (ack, cts).
#pragma once

#include "proto/p2p/control_sender.hpp"
#include "proto/p2p/match.hpp"

#include <algorithm>

namespace zipmpi::proto {

class RtsReplier {
  public:
    RtsReplier(ControlSender& control, const Matcher& matcher)
        : control_(control)
        , matcher_(matcher) {}

    // The tag field of the reply carries the number of unexpected messages, for SkewBuffer.
    void reply(const IncomingMessage& message, wire::MessageKind kind, const void* payload, size_t bytes) {
        const auto unexpected =
            static_cast<uint32_t>(std::min<uint64_t>(matcher_.unexpected().count(), INT32_MAX));
        control_.send(message.from, kind, payload, bytes, unexpected);
    }
    void acknowledge(const IncomingMessage& message) {
        const wire::Ack ack{message.sender};
        reply(message, wire::MessageKind::ack, &ack, sizeof ack);
    }

  private:
    ControlSender& control_;
    const Matcher& matcher_;
};

} // namespace zipmpi::proto
