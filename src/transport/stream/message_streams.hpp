// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages to peers over authenticated connections: what the networks of a job and between jobs share. Short
// messages are written with their data; long ones are announced, and the receiver pulls them.
//
// Threads: called with the progress engine's lock held.
#pragma once

#include "transport/stream/connection_sweeper.hpp"
#include "transport/stream/frame_reader.hpp"

namespace zipmpi::transport::stream {

class MessageStreams {
  public:
    struct Config {
        ProcessName own; // as peers address it
        NetworkListener& listener;
        RelayListener* relays = nullptr;
        Sealing sealing{};
    };
    MessageStreams(const Config& config, PeerSet& peers);

    // Accepts connections at these sockets. Returns false if a descriptor cannot be watched.
    bool listen(std::vector<os::Fd> listeners);
    // The descriptor is also readable when this one is.
    bool watch(int descriptor);

    PostStatus send(int peer, const wire::Envelope& envelope, const std::byte* payload, const BufferRef& data,
                    Timing timing);
    PostStatus send_rendezvous(int peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data);
    // Return false if the message was not announced here.
    bool fetch(IncomingBulk& bytes, const BufferRef& to);
    bool drop(IncomingBulk& bytes);

    int progress(); // the number of events
    [[nodiscard]] int descriptor() const { return table_.descriptor(); }
    // To be called before waiting for the descriptor. False: something has happened meanwhile.
    bool arm();
    void flush() { writer_.flush(); }
    [[nodiscard]] bool has_deferred() const { return writer_.has_deferred(); }
    [[nodiscard]] bool idle() const; // nothing is queued, and all announced data was pulled
    void fail_peer(int peer);
    void remove_peer(int peer); // ends its connections
    void sweep();

    [[nodiscard]] ConnectionTable& table() { return table_; }
    [[nodiscard]] const ConnectionTable& table() const { return table_; }
    [[nodiscard]] ConnectionSetup& setup() { return setup_; }
    [[nodiscard]] const ConnectionSetup& setup() const { return setup_; }
    [[nodiscard]] FrameSender& sender() { return sender_; }
    [[nodiscard]] const FrameSender& sender() const { return sender_; }
    [[nodiscard]] uint64_t rejected() const { return reader_.rejected(); }

  private:
    void poll_events();
    void handle_events(Connection& c, uint32_t events);
    void read(Connection& c);

    NetworkListener& listener_;
    PeerSet& peers_;
    std::vector<os::Fd> listening_;
    ConnectionTable table_;
    BulkTransfers transfers_;
    FrameWriter writer_;
    ConnectionSetup setup_;
    FrameSender sender_;
    FrameReader reader_;
    ConnectionSweeper sweeper_;
    Connection* active_ = nullptr; // the last one that has received something
    bool polls_all_ = true;        // in the next progress()
};

} // namespace zipmpi::transport::stream
