// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over dedicated TCP connections. A gateway offers one to each connected rank, through the engine that
// connects them, with a token that is valid for one connection; both sides authenticate there with the job
// key. The engine remains in use for handshakes, failure detection, and frames while there is no stream.
#pragma once

#include "transport/tcp/peer_stream.hpp"
#include "transport/tcp/stream_authenticator.hpp"

#include <deque>

namespace zipmpi::transport::tcp {

class StreamManager {
  public:
    StreamManager(int own_id, const auth::HandshakeKeys& keys, const FrameConfig& config, StreamPeers& peers,
                  PollCounters& counters);

    [[nodiscard]] bool is_enabled() const { return config_.streams; }
    // Without it, there are no streams. engine_descriptor: polled too.
    bool open(int engine_descriptor, const std::string& device);
    [[nodiscard]] bool is_open() const { return events_.is_open(); }
    [[nodiscard]] int descriptor() const { return events_.descriptor(); }

    void offer(Peer peer); // if this side offers streams
    void accept_offer(Peer from, const wire::StreamOffer& offer);
    void reset(Peer peer); // closes its stream
    void close_all();
    [[nodiscard]] bool has_stream(Peer peer) const {
        return peer < peers_.size() && peers_[peer].stream != nullptr;
    }
    [[nodiscard]] bool is_ready(Peer gateway) const; // it has a stream or will not get one

    // The peer must have a stream.
    PostStatus send(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data,
                    FrameTicket* ticket, FrameBuffer* buffer = nullptr);
    PostStatus batch(Peer peer, std::span<const std::byte> head, std::span<const std::byte> data);
    void flush();
    [[nodiscard]] bool has_batches() const { return !batching_.empty(); }
    [[nodiscard]] bool idle() const { return writing_.empty() && batching_.empty(); }
    void release(FrameBuffer& buffer) { buffers_.release(&buffer); }
    void revoke_buffer(std::span<const std::byte> memory);

    // Returns whether the engine needs progress.
    bool poll();
    void set_engine_active() { active_ = -1; }
    void watch_writable(); // before the caller waits for the descriptor

  private:
    PeerStream& peer_stream(Peer peer);
    void begin(StreamAuthenticator::Connection connection);
    void close(Peer peer);
    void on_closed(Peer peer);
    void after_sending(Peer peer, PostStatus posted);
    void read(Peer peer);
    void write_all();
    bool poll_events();
    void on_stream_event(Peer peer, uint32_t events);

    FrameConfig config_;
    StreamPeers& network_;
    PollCounters& counters_;
    EventPoll events_;
    os::Fd listener_;
    wire::StreamOffer offer_{};
    FrameBufferPool buffers_;
    StreamAuthenticator authenticator_;
    std::deque<PeerStream> peers_; // deque: streams refer to its elements
    size_t streams_ = 0;
    std::vector<Peer> batching_; // with batched frames
    std::vector<Peer> writing_;  // with frames not fully sent
    std::vector<Peer> broken_;
    int active_ = -1; // peer whose stream last received data; -1: the engine did
};

} // namespace zipmpi::transport::tcp
