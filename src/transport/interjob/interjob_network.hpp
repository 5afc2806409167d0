// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network of a process that is connected to other jobs. Ranks of its own job are reached through the wrapped
// network (if the job has one), external ranks over dedicated connections: Unix sockets on the same host, TCP
// between hosts. Created with the first communicator that includes another job; jobs without one pay
// nothing.
//
// Each side sends all its messages to a peer on one connection, which keeps their order; if both dial at once
// there are two connections, one per direction.
//
// Threads: called with the progress engine's lock held.
#pragma once

#include "transport/interjob/connection.hpp"
#include "transport/interjob/sockets.hpp"
#include "transport/network.hpp"

#include <map>
#include <memory>
#include <unordered_map>

namespace zipmpi::interjob {

using transport::IncomingBulk;
using transport::Peer;
using transport::PostStatus;

class InterJobNetwork final : public transport::Network {
  public:
    struct InterJobConfig {
        ProcessName name;    // of this process
        std::string devices; // to listen on; empty: all
        Peer first_peer = 0; // above all peers of the wrapped network
        transport::NetworkCallbacks callbacks{};
    };
    // Returns null on failure, with the reason in why; inner is then untouched.
    static std::unique_ptr<InterJobNetwork>
    open(const InterJobConfig& settings, std::unique_ptr<transport::Network>& inner, std::string& why);
    ~InterJobNetwork() override;

    [[nodiscard]] const ContactInfo& contact_info() const { return contact_info_; }
    // Adds a process that authenticates with this key. Returns its local rank: the rank in this job, or an
    // external rank from first_external on.
    int add_peer(const ContactInfo& contact, const std::string& key);
    [[nodiscard]] ContactInfo contact_info_of(int world_rank) const; // of an external rank
    [[nodiscard]] ProcessName name_of(int world_rank) const;
    // Reference counts of communicators: while a process is referenced, MPI_Finalize waits for its bye.
    void retain(int external_rank);
    void release(int external_rank);

    [[nodiscard]] const std::string& address() const override;
    int connect_to(int world_rank) override;
    [[nodiscard]] int rank_of(Peer peer) const override;
    void fail_peer(int world_rank) override;
    PostStatus send(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                    const BufferRef& data) override;
    PostStatus send_batched(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                            const BufferRef& data) override;
    PostStatus send_rendezvous(Peer peer, const wire::Envelope& envelope, const std::byte* payload,
                               const BufferRef& data) override;
    void fetch(IncomingBulk& bytes, const BufferRef& to) override;
    void drop(IncomingBulk& bytes) override;
    [[nodiscard]] uint64_t rendezvous_threshold(Peer peer) const override;
    [[nodiscard]] uint64_t max_eager(Peer peer) const override;
    int progress() override;
    [[nodiscard]] int descriptor() const override { return epoll_.get(); }
    bool arm() override { return inner_ == nullptr || inner_->arm(); }
    [[nodiscard]] bool idle() const override;
    void set_shutting_down(bool yes) override;
    [[nodiscard]] bool has_pending_handshakes() const override {
        return inner_ != nullptr && inner_->has_pending_handshakes();
    }
    [[nodiscard]] uint64_t rejected_messages() const override;

  private:
    struct ExternalPeer {
        ContactInfo contact;
        std::string key;
        uint64_t connection = 0; // for messages to it; 0: none
        uint32_t references = 0;
        bool failed = false;
    };
    struct PendingBulkSend { // not pulled yet
        int external;
        BufferRef data;
    };
    struct BulkKey { // identifies a rendezvous message of a peer
        int external;
        uint64_t number;
        friend auto operator<=>(const BulkKey&, const BulkKey&) = default;
    };
    struct PendingBulkRecv {
        BulkKey key;
        std::unique_ptr<IncomingBulk> handle; // its address identifies the message to the protocols
    };

    InterJobNetwork(const InterJobConfig& settings, std::unique_ptr<transport::Network> inner);
    [[nodiscard]] bool is_external_peer(Peer peer) const { return peer >= first_peer_; }
    [[nodiscard]] int external_of(Peer peer) const { return static_cast<int>(peer - first_peer_); }
    [[nodiscard]] Peer peer_of(int external) const { return first_peer_ + static_cast<Peer>(external); }
    [[nodiscard]] static int rank_of_external(int external) { return first_external + external; }

    // interjob_network.cpp
    Connection* connection_to(int external);
    PostStatus post(int external, const FrameHeader& head, const std::byte* payload, const BufferRef& data,
                    bool notify);
    void send_bye(int external);
    void fail(int external, const char* why);
    // connection_setup.cpp
    bool watch(Connection& c, bool add = false);
    Connection& add_connection(os::Fd fd, Connection::State state);
    bool dial_next(Connection& c);
    bool try_next_address(Connection& c);
    void on_connected(Connection& c);
    bool on_handshake(Connection& c);
    bool on_hello(Connection& c);
    bool reply_hello(Connection& c, const std::string& key);
    bool on_hello_reply(Connection& c);
    bool on_confirm(Connection& c);
    void retry_parked();
    void check_timeouts();
    void accept_connection(int listener);
    // connection_io.cpp
    void write_out(Connection& c);
    ssize_t write_some(Connection& c, Connection::QueuedFrame& out);
    void read_in(Connection& c);
    bool read_in_place(Connection& c, bool& over);
    size_t feed(Connection& c, std::span<const std::byte> bytes);
    size_t consume_data(Connection& c, std::span<const std::byte> bytes);
    bool begin_frame(Connection& c);
    void end_frame(Connection& c);
    void on_closed(Connection& c);
    void sweep();

    ContactInfo contact_info_;
    Peer first_peer_;
    transport::NetworkCallbacks callbacks_;
    std::string no_address_;
    os::Fd epoll_;
    std::vector<os::Fd> listeners_;
    std::deque<ExternalPeer> external_peers_;
    std::map<ProcessName, int> by_name_;
    std::unordered_map<uint64_t, std::string> keys_;
    std::map<uint64_t, std::unique_ptr<Connection>> connections_;
    uint64_t next_connection_ = 1;
    std::unordered_map<uint64_t, PendingBulkSend> pending_sends_;
    uint64_t next_send_id_ = 1;
    // Reported to the protocols, not fetched yet.
    std::unordered_map<IncomingBulk*, PendingBulkRecv> pending_recvs_;
    std::map<BulkKey, BufferRef> fetching_;
    std::vector<std::byte> read_buffer_;
    std::vector<std::byte> pack_buffer_; // for packed bytes of noncontiguous memory
    std::vector<int> newly_failed_;
    uint64_t checked_ns_ = 0;
    uint64_t rejected_messages_ = 0;
    int events_ = 0;
    bool shutting_down_ = false;
    bool to_sweep_ = false;
    std::unique_ptr<transport::Network> inner_;
};

} // namespace zipmpi::interjob
