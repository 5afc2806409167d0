// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which receive takes which message: communicator context, source and tag, with both wildcards, in the order
// the standard asks for. Receives are looked through in the order they were posted, waiting messages in the
// order they came; both per group of contexts.
#pragma once

#include "proto/p2p/operation.hpp"
#include "transport/concept.hpp"

#include <array>

namespace zipmpi::proto {

// A message as the receiving side knows it before it is in the user's buffer.
struct Incoming {
    wire::Envelope envelope{};
    transport::Peer from = 0;
    uint64_t bytes = 0;
    const std::byte* data = nullptr; // eager: the bytes
    wire::OperationId sender = 0;    // rendezvous: the sender's operation
    uint64_t address = 0;            // and where the message is in the sender's memory
    Operation* local = nullptr;      // from this process itself: the send that waits
};

// A message that came before its receive.
struct Unexpected {
    Incoming message;
    Unexpected* next = nullptr;
    Unexpected* previous = nullptr;
    // the bytes of an eager message follow
};

class Matcher {
  public:
    Matcher() = default;
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;
    ~Matcher();

    void post(Operation& recv) { bucket(recv.context).posted.push_back(recv); }
    void withdraw(Operation& recv) { bucket(recv.context).posted.remove(recv); }

    // The receive this message is for, taken off the list; or null.
    Operation* take_posted(const wire::Envelope& e);

    // The first waiting message that fits, left where it is; or null.
    [[nodiscard]] Unexpected* find_unexpected(uint32_t context, int source, int tag) const;
    // A waiting message that nearly fits this receive: its tag or its communicator is another. From this
    // peer, or from anybody if the receive takes any source. For reports: looks at a bounded number of
    // messages.
    [[nodiscard]] const Incoming* near_miss(const Operation& recv, transport::Peer from) const;
    // Keeps a message, with a copy of its bytes. Null if memory is exhausted.
    Unexpected* keep(const Incoming& message);
    // Off the list, for a receive that will name it; release() frees it.
    void take(Unexpected& u) { bucket(u.message.envelope.context).unexpected.remove(u); }
    static void release(Unexpected& u);
    void discard(Unexpected& u) {
        take(u);
        release(u);
    }
    // The first waiting message of a context that passes a test, or null.
    template <class Test>
    [[nodiscard]] Unexpected* find_if(uint32_t context, const Test& test) const {
        Unexpected* u = bucket(context).unexpected.first();
        while (u != nullptr && !(u->message.envelope.context == context && test(u->message))) u = u->next;
        return u;
    }

  private:
    struct Bucket {
        IntrusiveList<Operation> posted;
        IntrusiveList<Unexpected> unexpected;
    };
    static constexpr uint32_t bucket_count = 64;
    [[nodiscard]] Bucket& bucket(uint32_t context) { return buckets_[context % bucket_count]; }
    [[nodiscard]] const Bucket& bucket(uint32_t context) const { return buckets_[context % bucket_count]; }
    std::array<Bucket, bucket_count> buckets_;
};

} // namespace zipmpi::proto
