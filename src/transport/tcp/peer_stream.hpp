// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The stream of one peer. It passes arriving frames on to the listener of the network, with their sender.
#pragma once

#include "transport/poll_counters.hpp"
#include "transport/tcp/frame_stream.hpp"

namespace zipmpi::transport::tcp {

// Descriptor of a frame whose data is in the buffer; distinguished from those of other engines by an odd
// address.
inline constexpr uintptr_t frame_buffer_bit = 1;

inline void* descriptor_of(FrameBuffer* buffer) {
    return buffer != nullptr ? buffer->bytes + frame_buffer_bit : nullptr;
}

// Returns null for the descriptor of another engine.
inline FrameBuffer* frame_buffer_of(void* descriptor) {
    return (reinterpret_cast<uintptr_t>(descriptor) & frame_buffer_bit) != 0
               ? reinterpret_cast<FrameBuffer*>(static_cast<std::byte*>(descriptor) - frame_buffer_bit)
               : nullptr;
}

class PeerStream final : public StreamListener {
  public:
    PeerStream(Peer peer, int id, FrameListener& listener, PollCounters& counters)
        : peer_(peer)
        , id_(id)
        , listener_(listener)
        , counters_(counters) {}

    std::byte* receive_buffer_for(std::span<const std::byte> head, size_t bytes) override {
        return listener_.receive_buffer_for(head, bytes);
    }
    bool frame_arrived(std::span<const std::byte> head, std::span<const std::byte> data,
                       FrameBuffer* buffer) override {
        ++counters_.events;
        return listener_.frame_arrived({peer_, id_, head, data, descriptor_of(buffer)});
    }
    void frame_sent(FrameTicket* ticket) override {
        ++counters_.events;
        listener_.frame_sent(ticket);
    }
    [[nodiscard]] Peer peer() const { return peer_; }
    [[nodiscard]] int id() const { return id_; }

    std::unique_ptr<FrameStream> stream; // null: frames are sent by the engine
    bool none_offered = false;           // the gateway offers no stream

  private:
    Peer peer_;
    int id_;
    FrameListener& listener_;
    PollCounters& counters_;
};

} // namespace zipmpi::transport::tcp
