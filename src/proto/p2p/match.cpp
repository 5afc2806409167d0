// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/match.hpp"

#include "proto/p2p/unexpected_budget.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace zipmpi::proto {
namespace {

uint64_t memory_of(const UnexpectedMessage& u) { return sizeof u + u.capacity; }

} // namespace

Matcher::~Matcher() {
    budget_ = nullptr; // no messages at the end
    while (unexpected_.first() != nullptr) discard(*unexpected_.first());
    while (spare_.first != nullptr) {
        UnexpectedMessage* const next = spare_.first->next;
        std::free(spare_.first);
        spare_.first = next;
    }
}

void Matcher::post_keyed(Operation& recv) {
    recv.posted.order = ++keyed_posts_;
    recv.posted.keyed = true;
    ++posted_count_;
    count_wildcard(recv, 1);
    posted_.push_back(recv);
    expected_peers_.count_recv(recv.source, recv.world_peer, 1);
}

// Receives of the same key may be in both kinds of queues. With equal order the keyed one is older.
Operation* Matcher::take_oldest(const wire::Envelope& e) {
    const MatchKey patterns[] = {{e.context, e.source, e.tag},
                                 {e.context, e.source, any_tag},
                                 {e.context, any_source, e.tag},
                                 {e.context, any_source, any_tag}};
    Operation* first = exact_posted_.first(patterns[0]);
    for (int form = 0; form < 4; ++form) {
        if (form != 0 && posted_of_form_[form] == 0) continue;
        Operation* const candidate = posted_.first(patterns[form]);
        if (candidate != nullptr && (first == nullptr || candidate->posted.order <= first->posted.order))
            first = candidate;
    }
    if (first != nullptr) unpost(*first);
    return first;
}

UnexpectedMessage* Matcher::first_of_form(int form, const MatchKey& key) const {
    switch (form) {
    case 1:
        return by_source_.first(key);
    case 2:
        return by_tag_.first(key);
    default:
        return by_context_.first(key);
    }
}

void Matcher::build_index(int form) {
    indexed_[form] = true;
    for (UnexpectedMessage* u = unexpected_.first(); u != nullptr; u = u->next) {
        if (form == 1) by_source_.push_back(*u);
        if (form == 2) by_tag_.push_back(*u);
        if (form == 3) by_context_.push_back(*u);
    }
}

const IncomingMessage* Matcher::near_miss(const Operation& recv, transport::Peer from) const {
    const IncomingMessage* elsewhere = nullptr;
    int budget = 256;
    for (const UnexpectedMessage* u = unexpected_.first(); u != nullptr && budget > 0;
         u = u->next, --budget) {
        const IncomingMessage& m = u->message;
        const bool internal = (m.envelope.context & (1U | partitioned_context)) != 0;
        if (internal || (recv.source != any_source && m.from != from)) continue;
        if (m.envelope.context == recv.context) return &m;
        if (elsewhere == nullptr) elsewhere = &m;
    }
    return elsewhere;
}

UnexpectedMessage* Matcher::store(const IncomingMessage& message) {
    const size_t data = message.data_bytes;
    const size_t capacity = data > short_capacity ? data : short_capacity;
    void* memory = spare_.first;
    if (capacity == short_capacity && spare_.first != nullptr) {
        spare_.first = spare_.first->next;
        --spare_.count;
    } else {
        memory = std::malloc(sizeof(UnexpectedMessage) + capacity);
    }
    if (memory == nullptr) return nullptr;
    auto* u = new (memory) UnexpectedMessage{message, nullptr, nullptr, {}, capacity};
    if (message.data != nullptr) {
        auto* copy = reinterpret_cast<std::byte*>(u + 1);
        std::memcpy(copy, message.data, data);
        u->message.data = copy;
    }
    ++unexpected_count_;
    if (counters_ != nullptr) counters_->set(Counter::unexpected_length, unexpected_count_);
    unexpected_.push_back(*u);
    exact_.push_back(*u);
    if (indexed_[1]) by_source_.push_back(*u);
    if (indexed_[2]) by_tag_.push_back(*u);
    if (indexed_[3]) by_context_.push_back(*u);
    if (budget_ != nullptr) budget_->add(message.from, memory_of(*u));
    return u;
}

void Matcher::extract(UnexpectedMessage& u) {
    --unexpected_count_;
    if (counters_ != nullptr) counters_->set(Counter::unexpected_length, unexpected_count_);
    unexpected_.remove(u);
    exact_.remove(u);
    if (indexed_[1]) by_source_.remove(u);
    if (indexed_[2]) by_tag_.remove(u);
    if (indexed_[3]) by_context_.remove(u);
}

void Matcher::release(UnexpectedMessage& u) {
    if (budget_ != nullptr) budget_->remove(u.message.from, memory_of(u));
    if (u.capacity != short_capacity || spare_.count >= max_spare) return std::free(&u);
    u.next = spare_.first;
    spare_.first = &u;
    ++spare_.count;
}

} // namespace zipmpi::proto
