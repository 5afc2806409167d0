// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Transmits frames of flows: those with data, which also carry the acknowledgement that is due, and control
// frames.
#pragma once

#include "bridge/frame_codec.hpp"
#include "bridge/path_set.hpp"

namespace zipmpi::bridge {

class FrameTransmitter {
  public:
    FrameTransmitter(FrameCodec& codec, PathSet& paths, EndpointIo& io, EndpointStats& counters)
        : codec_(codec)
        , paths_(paths)
        , io_(io)
        , counters_(counters) {}

    PostStatus send_data(UnackedFrame& unacked, int path);
    // Returns false if no path accepts it.
    bool send_control(Flow& flow, wire::FrameType type, uint64_t sequence,
                      std::span<const std::byte> content);
    // The network has finished with all transmissions of a frame.
    void release_sealed(UnackedFrame& unacked) {
        codec_.release_sealed(unacked.sealed, 0, unacked.data.size());
    }

    [[nodiscard]] bool has_path(const Flow& flow) const { return paths_.has_path(flow.route); }

  private:
    FrameCodec& codec_;
    PathSet& paths_;
    EndpointIo& io_;
    EndpointStats& counters_;
};

} // namespace zipmpi::bridge
