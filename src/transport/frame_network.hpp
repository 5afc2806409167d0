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

// What the caller of send_frame() wants back when the engine has finished with the data; only its address is
// used.
struct FrameTicket {};

// A frame from a gateway, or from a rank to a gateway. All memory is valid during the call. If
// frame_arrived() keeps a frame with a descriptor, its data is valid until release_frame(descriptor).
struct FrameArrival {
    Peer from;
    int id; // of the sender: a world rank, or a gateway id above all ranks
    std::span<const std::byte> head;
    std::span<const std::byte> data;
    void* descriptor; // of the engine
};

class FrameListener {
  public:
    virtual bool frame_arrived(const FrameArrival& frame) = 0; // true: the data is kept
    virtual void frame_sent(FrameTicket* ticket) = 0;          // send_frame() has finished with the data
    virtual void peer_connected(Peer peer, int id) = 0;        // it can be sent to; may be called again
    // Destination for the data of a long frame, valid until revoke_buffer(); null: any buffer.
    virtual std::byte* receive_buffer_for(std::span<const std::byte> /*head*/, size_t /*bytes*/) {
        return nullptr;
    }

  protected:
    ~FrameListener() = default;
};

// Whether the caller calls flush_batches() or progress() soon, so that short frames may share a network
// message.
enum class Batching { forbidden, allowed };

struct FrameConfig {
    FrameListener* listener = nullptr;
    bool streams = false;        // use dedicated TCP connections for frames between ranks and gateways
    bool offers_streams = false; // offer such connections to connected peers
};

class FrameNetwork : public Network {
  public:
    // Sends a frame. The head is copied; if in flight, frame_sent(ticket) follows.
    virtual PostStatus send_frame(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                                  FrameTicket* ticket, Batching batching) = 0;
    virtual void flush_batches() = 0;
    [[nodiscard]] virtual bool has_batches() const = 0;
    virtual void release_frame(void* descriptor) = 0;
    // Abandons operations in flight to a peer; the next connect_to() repeats the handshake at its current
    // address. Must not be called by a listener.
    virtual void reset_peer(Peer peer) = 0;
    // Stops writing to memory returned by receive_buffer_for.
    virtual void revoke_buffer(std::span<const std::byte> memory) = 0;
    // The gateway has replied, and the frame connection to it is established or will not be.
    [[nodiscard]] virtual bool path_ready(Peer gateway) const = 0;
    // The buffer of a received frame if the end of its data is in the buffer's pipe; for gateways only.
    [[nodiscard]] virtual tcp::FrameBuffer* spliced(void* /*descriptor*/) const { return nullptr; }
    // send_frame() for a spliced frame.
    virtual PostStatus send_spliced(Peer, std::span<const std::byte> /*head*/,
                                    std::span<const std::byte> /*data*/, FrameTicket* /*ticket*/,
                                    tcp::FrameBuffer& /*buffer*/) {
        return PostStatus::failed;
    }
};

} // namespace zipmpi::transport
