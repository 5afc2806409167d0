// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cooperative copy: sender and receiver copy chunks of one large message concurrently. The receiver reads
// chunks from the sender's memory; a sender that is inside MPI writes chunks to the receiver's memory. Each
// side claims the next chunk when it is ready, so a sender that computes delays nothing.
#pragma once

#include "proto/p2p/chunks.hpp"
#include "proto/p2p/fragment_receiver.hpp"
#include "proto/p2p/path_policy.hpp"
#include "proto/p2p/remote_buffer.hpp"

namespace zipmpi::proto {

// State on the receiver's side.
struct CoopCopy {
    Operation* recv = nullptr; // null: free
    IncomingMessage message;
    RemoteBuffer from;
    const std::byte* view = nullptr; // the message, if it is in the shared arena
    uint64_t chunk_bytes = 0;
    uint32_t sequence = 0;
    uint32_t chunks = 0;
    uint32_t taken_chunks = 0; // chunks to be copied before it ends: all, or those claimed before it failed
    uint32_t own_chunks = 0;   // chunks copied by the receiver
    bool failed = false;
};

class CoopCopier {
  public:
    CoopCopier(NodeTransports& node, PathPolicy& paths, OperationTable& table, RtsReplier& replier,
               FragmentReceiver& fragments, Completion& completion)
        : node_(node)
        , paths_(paths)
        , table_(table)
        , replier_(replier)
        , fragments_(fragments)
        , completion_(completion) {}

    // Starts a copy of a message if that pays. Returns true if the receive is done, or will be when the
    // sender has written the chunks it claimed.
    bool start(Operation& recv, const IncomingMessage& message);
    // Ends copies whose sender has finished. Returns their number.
    int poll() { return active_ != 0 ? poll_active() : 0; }
    // Waits until the sender has finished its chunks: the buffer is reused after return.
    void abandon(const Operation& recv) {
        if (active_ != 0) abandon_active(recv);
    }
    // The sender has failed and claims no more chunks.
    void drop(const Operation& recv);
    // Sender's side: claims and writes chunks of this send. Here because both sides share the layout cache.
    void on_offer(const Operation& send, const wire::CoopOffer& offer, const transport::Arrival& a);

  private:
    [[nodiscard]] bool is_possible(const Operation& recv, const IncomingMessage& message, RemoteBuffer& from);
    void send_offer(const CoopCopy& copy);
    [[nodiscard]] bool read_chunk(const CoopCopy& copy, uint32_t chunk);
    [[nodiscard]] bool write_chunk(const Operation& send, transport::Peer to, const RemoteBuffer& to_buffer,
                                   uint64_t at, uint64_t bytes);
    bool try_finish(CoopCopy& copy);
    void close(CoopCopy& copy);
    void release(CoopCopy& copy);
    void abandon_active(const Operation& recv);
    int poll_active();
    [[nodiscard]] wire::CoopCopySlot& slot_of(const CoopCopy& copy) {
        return node_.shm.own_block().coop_copies[&copy - copies_];
    }

    NodeTransports& node_;
    PathPolicy& paths_;
    OperationTable& table_;
    RtsReplier& replier_;
    FragmentReceiver& fragments_;
    Completion& completion_;
    LayoutCache layouts_;
    CoopCopy copies_[wire::coop_copy_slots];
    uint32_t active_ = 0;
    uint32_t sequence_ = 0;
};

} // namespace zipmpi::proto
