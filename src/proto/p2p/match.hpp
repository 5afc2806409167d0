// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matcher: matches messages and receives by context, source and tag, with both wildcards, in the order that
// MPI requires. Every step takes constant time. A posted receive is in one queue, keyed by its pattern: in
// the exact queues if no receive with a wildcard is posted and its queue there is free, else in the keyed
// queues. A message takes the first receive of its exact queue; if there are keyed ones, the oldest of the
// first receives of the up to four patterns that it matches. Messages without a receive are in
// UnexpectedMessages.
#pragma once

#include "proto/p2p/exact_queues.hpp"
#include "proto/p2p/expected_peers.hpp"
#include "proto/p2p/keyed_queues.hpp"
#include "proto/p2p/operation.hpp"
#include "proto/p2p/unexpected_messages.hpp"

namespace zipmpi::proto {

class Matcher {
  public:
    explicit Matcher(const ExpectedPeers& expecting = {})
        : expected_peers_(expecting)
        , wildcards_posted_(expecting.is_enabled() ? 1 : 0) {}
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

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

    // True if no receive is posted and no message is unexpected: the next message that arrives can be given
    // to a new receive without a search.
    [[nodiscard]] bool empty() const { return (unexpected_.count() | posted_count_) == 0; }
    [[nodiscard]] UnexpectedMessages& unexpected() { return unexpected_; }
    [[nodiscard]] const UnexpectedMessages& unexpected() const { return unexpected_; }
    // Where the queues are, for debuggers (core/tool/message_queues.hpp).
    struct Places {
        const void* exact; // ExactQueues::places()
        const std::vector<Operation*>* posted;
        const IntrusiveList<UnexpectedMessage>* unexpected;
    };
    [[nodiscard]] Places places() const {
        return {exact_posted_.places(), &posted_.buckets(), &unexpected_.all()};
    }

  private:
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
    void post_keyed(Operation& recv);
    [[nodiscard]] Operation* take_oldest(const wire::Envelope& e);

    ExpectedPeers expected_peers_;
    ExactQueues exact_posted_;
    KeyedQueues<Operation, ByPattern> posted_;
    uint64_t keyed_posts_ = 0;       // so far
    uint64_t posted_count_ = 0;      // in both
    int64_t wildcards_posted_;       // posted receives with wildcards; plus 1 if expected peers are counted
    int64_t posted_of_form_[4] = {}; // posted receives per wildcard form

    UnexpectedMessages unexpected_;
};

} // namespace zipmpi::proto
