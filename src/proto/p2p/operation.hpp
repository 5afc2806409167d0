// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One send or receive from its start to its completion. Core's requests are made of it; blocking calls keep
// one on the stack. It must not move or go away before done() is true.
#pragma once

#include "base/err.hpp"
#include "layout/program.hpp"
#include "proto/p2p/keyed_queues.hpp"
#include "wire/envelope.hpp"

#include <cstddef>
#include <cstdint>

namespace zipmpi::proto {

inline constexpr int any_source = -1;
inline constexpr int any_tag = -2;

// Partitioned communication has contexts of its own beside those of its communicator: with this bit, even for
// the descriptions that sender and receiver of a channel match by, odd for its messages.
inline constexpr uint32_t partitioned_context = 1U << 31;

// Messages by which the members of a communicator agree that may be revoked or have lost members
// (core/fault): beside those of partitioned channels, with tags that these do not have. Only the end of the
// other side ends them.
inline bool survives(uint32_t context, int tag) {
    return (context & partitioned_context) != 0 && (context & 1U) != 0 && tag < 0;
}

struct Operation {
    enum class Kind : uint8_t { send, recv, none };

    // --- set before the start
    Kind kind = Kind::none;
    bool synchronous = false; // send: done only when matched
    bool patient = false;     // send: its caller comes back before it can know that it is done
    uint32_t context = 0;
    int source = 0;              // send: own rank in the communicator; recv: rank to match, or any_source
    int tag = 0;                 // recv: may be any_tag
    int peer = 0;                // rank of the other side in the communicator, for reports
    int world_peer = 0;          // the same in MPI_COMM_WORLD; recv from any_source: -1
    std::byte* buffer = nullptr; // a send never writes through it
    uint64_t bytes = 0;          // recv: room in the buffer
    const layout::Program* layout = nullptr; // of the elements at buffer; null: the bytes themselves
    int64_t elements = 0;                    // with a layout: how many there are at buffer
    uint64_t first_byte = 0;                 // with a layout: where in their packed bytes the message begins
    void (*on_done)(Operation&) = nullptr;

    // --- result of a receive
    int matched_source = any_source;
    int matched_tag = any_tag;
    uint64_t received = 0;
    Err error = Err::success;
    bool cancelled = false;

    // --- while under way
    uint64_t moved = 0;  // bytes of a rendezvous copied so far
    uint64_t wanted = 0; // bytes of a rendezvous to be copied in all
    wire::OperationId own_id = 0;
    wire::OperationId remote_id = 0;
    uint32_t transport_peer = 0;
    bool awaits_ack = false; // send to another host: from its receiver
    bool asked_back = false; // send to another host: its receiver says whether it has dropped it
    bool in_network = false; // receive: the network writes to its memory
    bool complete = false;   // read and written under the lane's lock
    uint64_t order = 0;      // of a posted receive among all
    QueueLink<Operation> link;

    [[nodiscard]] bool done() const { return complete; }

    // Back to where it was before its start, with the same arguments.
    void reset() {
        matched_source = any_source;
        matched_tag = any_tag;
        received = moved = wanted = 0;
        error = Err::success;
        cancelled = complete = awaits_ack = asked_back = in_network = false;
        own_id = remote_id = 0;
    }
};

// Doubly linked through the elements themselves: no allocation, removal in O(1).
template <class T>
class IntrusiveList {
  public:
    [[nodiscard]] T* first() const { return first_; }
    [[nodiscard]] bool empty() const { return first_ == nullptr; }

    void push_back(T& e) {
        e.previous = last_;
        e.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &e;
        last_ = &e;
    }
    void remove(T& e) {
        (e.previous != nullptr ? e.previous->next : first_) = e.next;
        (e.next != nullptr ? e.next->previous : last_) = e.previous;
        e.next = e.previous = nullptr;
    }

  private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

} // namespace zipmpi::proto
