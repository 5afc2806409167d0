// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// UnexpectedMessages: messages that arrived before their receive was posted, found by context, source and
// tag, with both wildcards. A message is in a queue keyed by its envelope, and in one more per form of
// wildcard after the first search of that form.
#pragma once

#include "base/counters.hpp"
#include "proto/p2p/intrusive_list.hpp"
#include "proto/p2p/keyed_queues.hpp"
#include "proto/p2p/operation.hpp"
#include "transport/network.hpp"
#include "transport/transport.hpp"

namespace zipmpi::proto {

class UnexpectedBudget;

// A message at the receiver before it is in the user's buffer.
struct IncomingMessage {
    wire::Envelope envelope{};
    transport::Peer from = 0;
    uint64_t bytes = 0;
    const std::byte* data = nullptr; // eager: the bytes; rendezvous: the first bytes, a LayoutRecord, or null
    uint64_t data_bytes = 0;         // bytes at data
    wire::OperationId sender = 0;    // rendezvous: the sender's operation
    uint64_t address = 0;            // rendezvous: of the message in the sender's memory; 0: not given
    uint64_t arena_offset = 0;       // rendezvous: offset in the sender's shared arena plus 1; 0: not there
    Operation* local_send = nullptr; // message of this process to itself: the pending send
    transport::IncomingBulk* bulk = nullptr; // message from another host, not fetched yet
    bool has_layout = false;                 // rendezvous: data is a LayoutRecord relative to address
};

// A message that arrived before its receive was posted. The bytes that came with it follow the object.
struct UnexpectedMessage {
    IncomingMessage message;
    UnexpectedMessage* next = nullptr; // in order of arrival, over all contexts
    UnexpectedMessage* previous = nullptr;
    QueueLink<UnexpectedMessage> links[4]; // one per form of pattern
    size_t capacity = 0;                   // for the bytes that follow
};

// Forms of a pattern: 0 exact, 1 any tag, 2 any source, 3 any tag and any source.
inline int form_of(int source, int tag) { return (tag == any_tag ? 1 : 0) + (source == any_source ? 2 : 0); }

class UnexpectedMessages {
  public:
    UnexpectedMessages() = default;
    UnexpectedMessages(const UnexpectedMessages&) = delete;
    UnexpectedMessages& operator=(const UnexpectedMessages&) = delete;
    ~UnexpectedMessages();

    // The first message that matches, or null. It stays in the queues.
    [[nodiscard]] UnexpectedMessage* find(uint32_t context, int source, int tag) {
        if (all_.empty()) return nullptr;
        const int form = form_of(source, tag);
        if (form == 0) return exact_.first({context, source, tag});
        if (!indexed_[form]) build_index(form);
        return first_of_form(form, {context, source, tag});
    }
    // For reports: a message from the source of this receive whose tag or communicator differs,
    // or null. Searches a bounded number of messages.
    [[nodiscard]] const IncomingMessage* near_miss(const Operation& recv, transport::Peer from) const;
    // Stores a message with a copy of its bytes. Returns null if memory is exhausted.
    UnexpectedMessage* store(const IncomingMessage& message);
    // Removes a message from the queues, for a matched receive; release() frees it.
    void extract(UnexpectedMessage& u);
    void release(UnexpectedMessage& u);
    void discard(UnexpectedMessage& u) {
        extract(u);
        release(u);
    }
    // The first message of a context that satisfies the predicate, or null. Linear search.
    template <class Test>
    [[nodiscard]] UnexpectedMessage* find_if(uint32_t context, const Test& test) const {
        UnexpectedMessage* u = all_.first();
        while (u != nullptr && !(u->message.envelope.context == context && test(u->message))) u = u->next;
        return u;
    }
    template <class Test>
    void discard_if(uint32_t context, const Test& test) {
        for (UnexpectedMessage *u = all_.first(), *next = nullptr; u != nullptr; u = next) {
            next = u->next;
            if (u->message.envelope.context == context && test(u->message)) discard(*u);
        }
    }
    [[nodiscard]] uint64_t count() const { return count_; }
    [[nodiscard]] const IntrusiveList<UnexpectedMessage>& all() const { return all_; }
    // Counters in which count() is published.
    void set_counters(Counters& counters) { counters_ = &counters; }
    // Counts the memory of the messages.
    void set_budget(UnexpectedBudget& budget) { budget_ = &budget; }

  private:
    template <int form>
    struct ByEnvelope {
        static MatchKey key(const UnexpectedMessage& u) {
            const wire::Envelope& e = u.message.envelope;
            return {e.context, (form & 2) != 0 ? any_source : e.source, (form & 1) != 0 ? any_tag : e.tag};
        }
        static QueueLink<UnexpectedMessage>& link(UnexpectedMessage& u) { return u.links[form]; }
    };

    [[nodiscard]] UnexpectedMessage* first_of_form(int form, const MatchKey& key) const;
    [[gnu::cold]] void build_index(int form);

    IntrusiveList<UnexpectedMessage> all_; // in order of arrival
    uint64_t count_ = 0;
    Counters* counters_ = nullptr;
    UnexpectedBudget* budget_ = nullptr;
    KeyedQueues<UnexpectedMessage, ByEnvelope<0>> exact_;
    KeyedQueues<UnexpectedMessage, ByEnvelope<1>> by_source_;
    KeyedQueues<UnexpectedMessage, ByEnvelope<2>> by_tag_;
    KeyedQueues<UnexpectedMessage, ByEnvelope<3>> by_context_;
    bool indexed_[4] = {true, false, false, false}; // forms whose queues are maintained
    // Memory of short messages is reused.
    static constexpr size_t short_capacity = 128;
    static constexpr uint32_t max_spare = 1024;
    struct SpareMessages {
        UnexpectedMessage* first = nullptr;
        uint32_t count = 0;
    };
    SpareMessages spare_;
};

} // namespace zipmpi::proto
