// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/unexpected_messages.hpp"

#include "proto/p2p/unexpected_budget.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace zipmpi::proto {
namespace {

uint64_t memory_of(const UnexpectedMessage& u) { return sizeof u + u.capacity; }

} // namespace

UnexpectedMessages::~UnexpectedMessages() {
    budget_ = nullptr; // no messages at the end
    while (all_.first() != nullptr) discard(*all_.first());
    while (spare_.first != nullptr) {
        UnexpectedMessage* const next = spare_.first->next;
        std::free(spare_.first);
        spare_.first = next;
    }
}

UnexpectedMessage* UnexpectedMessages::first_of_form(int form, const MatchKey& key) const {
    switch (form) {
    case 1:
        return by_source_.first(key);
    case 2:
        return by_tag_.first(key);
    default:
        return by_context_.first(key);
    }
}

void UnexpectedMessages::build_index(int form) {
    indexed_[form] = true;
    for (UnexpectedMessage* u = all_.first(); u != nullptr; u = u->next) {
        if (form == 1) by_source_.push_back(*u);
        if (form == 2) by_tag_.push_back(*u);
        if (form == 3) by_context_.push_back(*u);
    }
}

const IncomingMessage* UnexpectedMessages::near_miss(const Operation& recv, transport::Peer from) const {
    const IncomingMessage* elsewhere = nullptr;
    int budget = 256;
    for (const UnexpectedMessage* u = all_.first(); u != nullptr && budget > 0; u = u->next, --budget) {
        const IncomingMessage& m = u->message;
        const bool internal = (m.envelope.context & (1U | partitioned_context)) != 0;
        if (internal || (recv.source != any_source && m.from != from)) continue;
        if (m.envelope.context == recv.context) return &m;
        if (elsewhere == nullptr) elsewhere = &m;
    }
    return elsewhere;
}

UnexpectedMessage* UnexpectedMessages::store(const IncomingMessage& message) {
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
    ++count_;
    if (counters_ != nullptr) counters_->set(Counter::unexpected_length, count_);
    all_.push_back(*u);
    exact_.push_back(*u);
    if (indexed_[1]) by_source_.push_back(*u);
    if (indexed_[2]) by_tag_.push_back(*u);
    if (indexed_[3]) by_context_.push_back(*u);
    if (budget_ != nullptr) budget_->add(message.from, memory_of(*u));
    return u;
}

void UnexpectedMessages::extract(UnexpectedMessage& u) {
    --count_;
    if (counters_ != nullptr) counters_->set(Counter::unexpected_length, count_);
    all_.remove(u);
    exact_.remove(u);
    if (indexed_[1]) by_source_.remove(u);
    if (indexed_[2]) by_tag_.remove(u);
    if (indexed_[3]) by_context_.remove(u);
}

void UnexpectedMessages::release(UnexpectedMessage& u) {
    if (budget_ != nullptr) budget_->remove(u.message.from, memory_of(u));
    if (u.capacity != short_capacity || spare_.count >= max_spare) return std::free(&u);
    u.next = spare_.first;
    spare_.first = &u;
    ++spare_.count;
}

} // namespace zipmpi::proto
