// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network extensions for senders of frames: ranks of multi-cluster jobs, and gateways.
#pragma once

#include "transport/network.hpp"

namespace zipmpi::transport {

namespace tcp {
struct FrameBuffer; // tcp/frame_stream.hpp
}

struct FrameConfig {
    bool streams = false;        // use dedicated TCP connections for frames between ranks and gateways
    bool offers_streams = false; // offer such connections to connected peers
    // Returns the destination for the data of a long frame, valid until revoke_buffer(); null: any buffer.
    // The subject is that of NetworkCallbacks.
    std::byte* (*receive_buffer_for)(void* subject, std::span<const std::byte> head, size_t bytes) = nullptr;
};

// Calls peer_connected() again when frames sent earlier may be lost although the peer is alive.
class FrameNetwork : public Network {
  public:
    // Stops writing to memory returned by receive_buffer_for.
    virtual void revoke_buffer(std::span<const std::byte> memory) = 0;
    // The gateway has replied, and the frame connection to it is established or will not be.
    [[nodiscard]] virtual bool path_ready(Peer gateway) const = 0;
    // The buffer of a received frame if the end of its data is in the buffer's pipe; for gateways only.
    [[nodiscard]] virtual tcp::FrameBuffer* spliced(void* /*descriptor*/) const { return nullptr; }
    // send_frame() for a spliced frame.
    virtual PostStatus send_spliced(Peer, std::span<const std::byte> /*head*/,
                                    std::span<const std::byte> /*data*/, void* /*ticket*/,
                                    tcp::FrameBuffer& /*buffer*/) {
        return PostStatus::failed;
    }
};

} // namespace zipmpi::transport
