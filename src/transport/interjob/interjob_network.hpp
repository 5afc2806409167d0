// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Network of a process that is connected to other jobs. Ranks of its own job are reached through the wrapped
// network (if the job has one), external ranks over dedicated connections: Unix sockets on the same host, TCP
// between hosts. Created with the first communicator that includes another job; jobs without one pay
// nothing.
//
// Threads: called with the progress engine's lock held.
#pragma once

#include "transport/interjob/external_peers.hpp"
#include "transport/network.hpp"
#include "transport/stream/message_streams.hpp"

#include <memory>

namespace zipmpi::interjob {

using transport::BufferRef;
using transport::IncomingBulk;
using transport::NetworkOperation;
using transport::PostStatus;

class InterJobNetwork final : public transport::Network {
  public:
    struct InterJobConfig {
        ProcessName name;    // of this process
        std::string devices; // to listen on; empty: all
        Peer first_peer = 0; // above all peers of the wrapped network
        transport::NetworkListener* listener = nullptr;
        ExternalPeers::ContextCheck is_context_in_use = nullptr;
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
    void retain(int external_rank, uint32_t context);
    void release(int external_rank, uint32_t context);
    // Connections to a process that is no longer referenced are not closed on both sides yet.
    [[nodiscard]] bool is_closing(int external_rank) const;

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
    [[nodiscard]] int descriptor() const override { return streams_.descriptor(); }
    bool arm() override;
    [[nodiscard]] bool idle() const override;
    void set_shutting_down(bool yes) override;
    void announce_end() override {
        if (inner_ != nullptr) inner_->announce_end();
    }
    [[nodiscard]] bool has_pending_handshakes() const override {
        return inner_ != nullptr && inner_->has_pending_handshakes();
    }
    [[nodiscard]] bool relays_bulk() const override { return inner_ != nullptr && inner_->relays_bulk(); }
    [[nodiscard]] uint64_t rejected_messages() const override;

  private:
    explicit InterJobNetwork(const InterJobConfig& settings);

    ContactInfo contact_info_; // of this process
    std::string no_address_;
    ExternalPeers peers_;
    transport::stream::MessageStreams streams_;
    std::unique_ptr<transport::Network> inner_;
};

} // namespace zipmpi::interjob
