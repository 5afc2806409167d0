// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which receive takes which message: communicator context, source and tag, with both wildcards, in the order
// the standard asks for. Every step takes constant time, whatever the number of receives and messages: a
// posted receive lies in one queue, by its pattern; a message looks at the first receive of the (at most
// four) patterns that it fits and takes the oldest. A waiting message lies in a queue by its exact envelope,
// and in one per form of wildcard once a receive of that form has been seen.
#pragma once

#include "base/counters.hpp"
#include "proto/p2p/expecting.hpp"
#include "proto/p2p/keyed_queues.hpp"
#include "proto/p2p/operation.hpp"
#include "transport/concept.hpp"
#include "transport/ucx/network.hpp"

namespace zipmpi::proto {

// A message as the receiving side knows it before it is in the user's buffer.
struct Incoming {
    wire::Envelope envelope{};
    transport::Peer from = 0;
    uint64_t bytes = 0;
    const std::byte* data = nullptr; // eager: the bytes; rendezvous: the first of them, or a note, or null
    uint64_t data_bytes = 0;         // how many there are at data
    wire::OperationId sender = 0;    // rendezvous: the sender's operation
    uint64_t address = 0;            // and where the message is in the sender's memory, if in one piece
    uint64_t place = 0;              // and in the sender's part of the node segment's file, plus 1
    Operation* local = nullptr;      // from this process itself: the send that waits
    transport::ucx::Arriving* arriving = nullptr; // from another host, its bytes still there
    bool noted = false; // rendezvous: data is a note on where the message lies from address on
};

// A message that came before its receive.
struct Unexpected {
    Incoming message;
    Unexpected* next = nullptr; // in the order of arrival, over all contexts
    Unexpected* previous = nullptr;
    QueueLink<Unexpected> links[4]; // one per form
    size_t room = 0;                // for the bytes that came with it, which follow
};

class Matcher {
  public:
    explicit Matcher(const Expecting& expecting = {})
        : expecting_(expecting)
        , special_posted_(expecting.counts() ? 1 : 0) {}
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;
    ~Matcher();

    void post(Operation& recv) {
        recv.order = ++posts_;
        count_wild(recv, 1);
        posted_.push_back(recv);
        expecting_.receive(recv.source, recv.world_peer, 1);
    }
    void withdraw(Operation& recv) {
        count_wild(recv, -1);
        posted_.remove(recv);
        expecting_.receive(recv.source, recv.world_peer, -1);
    }

    // A posted receive that passes a test, or null. Takes time with their number.
    template <class Test>
    [[nodiscard]] Operation* find_posted(const Test& test) const {
        return posted_.find_if(test);
    }

    // The receive this message is for, taken off the list; or null.
    Operation* take_posted(const wire::Envelope& e) {
        Operation* first = posted_.first({e.context, e.source, e.tag});
        if (special_posted_ == 0) [[likely]] {
            if (first != nullptr) posted_.remove(*first);
            return first;
        }
        first = older_wild(first, e);
        if (first != nullptr) withdraw(*first);
        return first;
    }

    // The first waiting message that fits, left where it is; or null.
    [[nodiscard]] Unexpected* find_unexpected(uint32_t context, int source, int tag) {
        if (unexpected_.empty()) return nullptr;
        const int form = form_of(source, tag);
        if (form == 0) return exact_.first({context, source, tag});
        if (!indexed_[form]) index(form);
        return first_of_form(form, {context, source, tag});
    }
    // A waiting message that nearly fits this receive: its tag or its communicator is another. From this
    // peer, or from anybody if the receive takes any source. For reports: looks at a bounded number of
    // messages.
    [[nodiscard]] const Incoming* near_miss(const Operation& recv, transport::Peer from) const;
    // Keeps a message, with a copy of its bytes. Null if memory is exhausted.
    Unexpected* keep(const Incoming& message);
    // Off the list, for a receive that will name it; release() frees it.
    void take(Unexpected& u);
    void release(Unexpected& u);
    void discard(Unexpected& u) {
        take(u);
        release(u);
    }
    // The first waiting message of a context that passes a test, or null. Takes time with their number.
    template <class Test>
    [[nodiscard]] Unexpected* find_if(uint32_t context, const Test& test) const {
        Unexpected* u = unexpected_.first();
        while (u != nullptr && !(u->message.envelope.context == context && test(u->message))) u = u->next;
        return u;
    }
    template <class Test>
    void discard_if(uint32_t context, const Test& test) {
        for (Unexpected *u = unexpected_.first(), *next = nullptr; u != nullptr; u = next) {
            next = u->next;
            if (u->message.envelope.context == context && test(u->message)) discard(*u);
        }
    }
    // Messages that wait for a receive.
    [[nodiscard]] uint64_t waiting() const { return waiting_; }
    // Where others can read how many that are.
    void show_waiting_in(Counters& counters) { shown_ = &counters; }

  private:
    // Forms of a pattern: 0 exact, 1 any tag, 2 any source, 3 both.
    static int form_of(int source, int tag) {
        return (tag == any_tag ? 1 : 0) + (source == any_source ? 2 : 0);
    }
    void count_wild(const Operation& recv, int change) {
        const int form = form_of(recv.source, recv.tag);
        if (form == 0) [[likely]]
            return;
        special_posted_ += change;
        posted_of_form_[form] += change;
    }
    struct ByPattern {
        static MatchKey key(const Operation& op) { return {op.context, op.source, op.tag}; }
        static QueueLink<Operation>& link(Operation& op) { return op.link; }
    };
    template <int form>
    struct ByEnvelope {
        static MatchKey key(const Unexpected& u) {
            const wire::Envelope& e = u.message.envelope;
            return {e.context, (form & 2) != 0 ? any_source : e.source, (form & 1) != 0 ? any_tag : e.tag};
        }
        static QueueLink<Unexpected>& link(Unexpected& u) { return u.links[form]; }
    };

    [[nodiscard]] Operation* older_wild(Operation* first, const wire::Envelope& e) const;
    [[nodiscard]] Unexpected* first_of_form(int form, const MatchKey& key) const;
    [[gnu::cold]] void index(int form);

    Expecting expecting_;
    KeyedQueues<Operation, ByPattern> posted_;
    uint64_t posts_ = 0;
    int64_t special_posted_;         // posted receives with wildcards; one more where all are counted
    int64_t posted_of_form_[4] = {}; // the same for each form but the exact one

    IntrusiveList<Unexpected> unexpected_;
    uint64_t waiting_ = 0;
    Counters* shown_ = nullptr;
    KeyedQueues<Unexpected, ByEnvelope<0>> exact_;
    KeyedQueues<Unexpected, ByEnvelope<1>> by_source_;
    KeyedQueues<Unexpected, ByEnvelope<2>> by_tag_;
    KeyedQueues<Unexpected, ByEnvelope<3>> by_context_;
    bool indexed_[4] = {true, false, false, false}; // which of them are kept
    // Memory of short messages is kept for the next ones.
    static constexpr size_t short_room = 128;
    static constexpr uint32_t most_spare = 1024;
    Unexpected* spare_ = nullptr;
    uint32_t spares_ = 0;
};

} // namespace zipmpi::proto
