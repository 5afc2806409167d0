// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matcher: matches messages and receives by context, source and tag, with both wildcards, in the order that
// MPI requires. Every step takes constant time. A posted receive is in one queue, keyed by its pattern: in
// the exact queues if no receive with a wildcard is posted and its queue there is free, else in the keyed
// queues. A message takes the first receive of its exact queue; if there are keyed ones, the oldest of the
// first receives of the up to four patterns that it matches. An unexpected message is in a queue keyed by its
// envelope, and in one more per form of wildcard after the first receive of that form.
#pragma once

#include "base/counters.hpp"
#include "proto/p2p/exact_queues.hpp"
#include "proto/p2p/expected_peers.hpp"
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

class Matcher {
  public:
    explicit Matcher(const ExpectedPeers& expecting = {})
        : expected_peers_(expecting)
        , wildcards_posted_(expecting.is_enabled() ? 1 : 0) {}
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;
    ~Matcher();

    [[gnu::always_inline]] void post(Operation& recv) {
        if (form_of(recv.source, recv.tag) == 0 && try_post_exact(recv)) [[likely]]
            return;
        post_keyed(recv);
    }
    // Posts a receive without wildcards in its exact queue. Returns false, without side effects, if that is
    // not possible.
    [[gnu::always_inline]] bool try_post_exact(Operation& recv) {
        if (wildcards_posted_ != 0 || !exact_posted_.push_back(recv)) [[unlikely]]
            return false;
        recv.posted.order = keyed_posts_; // after these, before the next one
        ++posted_count_;
        return true;
    }
    void unpost(Operation& recv) {
        --posted_count_;
        if (!recv.posted.keyed) return exact_posted_.remove(recv);
        recv.posted.keyed = false;
        count_wildcard(recv, -1);
        posted_.remove(recv);
        expected_peers_.count_recv(recv.source, recv.world_peer, -1);
    }
    // Whether no receive is in the keyed queues. Then messages can be matched with take_exact_if().
    [[nodiscard]] bool has_only_exact() const { return posted_.empty(); }
    // Removes and returns the receive that matches the envelope if it satisfies the predicate; else null.
    template <class Test>
    [[gnu::always_inline]] Operation* take_exact_if(const wire::Envelope& e, const Test& test) {
        Operation* const first = exact_posted_.take_first_if({e.context, e.source, e.tag}, test);
        if (first != nullptr) --posted_count_;
        return first;
    }

    // A posted receive that satisfies the predicate, or null. Linear in the number of receives.
    template <class Test>
    [[nodiscard]] Operation* find_posted(const Test& test) const {
        Operation* const found = exact_posted_.find_if(test);
        return found != nullptr ? found : posted_.find_if(test);
    }

    // Removes and returns the receive that matches the envelope, or returns null.
    [[gnu::always_inline]] Operation* take_posted(const wire::Envelope& e) {
        if (!posted_.empty()) [[unlikely]]
            return take_oldest(e);
        return take_exact_if(e, [](const Operation&) { return true; });
    }

    // The first unexpected message that matches, or null. It stays in the queues.
    [[nodiscard]] UnexpectedMessage* find_unexpected(uint32_t context, int source, int tag) {
        if (unexpected_.empty()) return nullptr;
        const int form = form_of(source, tag);
        if (form == 0) return exact_.first({context, source, tag});
        if (!indexed_[form]) build_index(form);
        return first_of_form(form, {context, source, tag});
    }
    // For reports: an unexpected message from the source of this receive whose tag or communicator differs,
    // or null. Searches a bounded number of messages.
    [[nodiscard]] const IncomingMessage* near_miss(const Operation& recv, transport::Peer from) const;
    // Stores an unexpected message with a copy of its bytes. Returns null if memory is exhausted.
    UnexpectedMessage* store(const IncomingMessage& message);
    // Removes a message from the queues, for a matched receive; release() frees it.
    void extract(UnexpectedMessage& u);
    void release(UnexpectedMessage& u);
    void discard(UnexpectedMessage& u) {
        extract(u);
        release(u);
    }
    // The first unexpected message of a context that satisfies the predicate, or null. Linear search.
    template <class Test>
    [[nodiscard]] UnexpectedMessage* find_if(uint32_t context, const Test& test) const {
        UnexpectedMessage* u = unexpected_.first();
        while (u != nullptr && !(u->message.envelope.context == context && test(u->message))) u = u->next;
        return u;
    }
    template <class Test>
    void discard_if(uint32_t context, const Test& test) {
        for (UnexpectedMessage *u = unexpected_.first(), *next = nullptr; u != nullptr; u = next) {
            next = u->next;
            if (u->message.envelope.context == context && test(u->message)) discard(*u);
        }
    }
    // True if no receive is posted and no message is unexpected: the next message that arrives can be given
    // to a new receive without a search.
    [[nodiscard]] bool empty() const { return (unexpected_count_ | posted_count_) == 0; }
    [[nodiscard]] uint64_t unexpected_count() const { return unexpected_count_; }
    // Where the queues are, for debuggers (core/tool/message_queues.hpp).
    struct Places {
        const void* exact; // ExactQueues::places()
        const std::vector<Operation*>* posted;
        const IntrusiveList<UnexpectedMessage>* unexpected;
    };
    [[nodiscard]] Places places() const { return {exact_posted_.places(), &posted_.buckets(), &unexpected_}; }
    // Counters in which unexpected_count() is published.
    void set_counters(Counters& counters) { counters_ = &counters; }
    // Counts the memory of unexpected messages.
    void set_budget(UnexpectedBudget& budget) { budget_ = &budget; }

  private:
    // Forms of a pattern: 0 exact, 1 any tag, 2 any source, 3 any tag and any source.
    static int form_of(int source, int tag) {
        return (tag == any_tag ? 1 : 0) + (source == any_source ? 2 : 0);
    }
    void count_wildcard(const Operation& recv, int change) {
        const int form = form_of(recv.source, recv.tag);
        if (form == 0) [[likely]]
            return;
        wildcards_posted_ += change;
        posted_of_form_[form] += change;
    }
    struct ByPattern {
        static MatchKey key(const Operation& op) { return {op.context, op.source, op.tag}; }
        static QueueLink<Operation>& link(Operation& op) { return op.posted.link; }
    };
    template <int form>
    struct ByEnvelope {
        static MatchKey key(const UnexpectedMessage& u) {
            const wire::Envelope& e = u.message.envelope;
            return {e.context, (form & 2) != 0 ? any_source : e.source, (form & 1) != 0 ? any_tag : e.tag};
        }
        static QueueLink<UnexpectedMessage>& link(UnexpectedMessage& u) { return u.links[form]; }
    };

    void post_keyed(Operation& recv);
    [[nodiscard]] Operation* take_oldest(const wire::Envelope& e);
    [[nodiscard]] UnexpectedMessage* first_of_form(int form, const MatchKey& key) const;
    [[gnu::cold]] void build_index(int form);

    ExpectedPeers expected_peers_;
    ExactQueues exact_posted_;
    KeyedQueues<Operation, ByPattern> posted_;
    uint64_t keyed_posts_ = 0;       // so far
    uint64_t posted_count_ = 0;      // in both
    int64_t wildcards_posted_;       // posted receives with wildcards; plus 1 if expected peers are counted
    int64_t posted_of_form_[4] = {}; // posted receives per wildcard form

    IntrusiveList<UnexpectedMessage> unexpected_;
    uint64_t unexpected_count_ = 0;
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
