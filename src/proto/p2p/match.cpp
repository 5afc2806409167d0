// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/match.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace zipmpi::proto {

Matcher::~Matcher() {
    while (unexpected_.first() != nullptr) discard(*unexpected_.first());
    while (spare_ != nullptr) {
        Unexpected* const next = spare_->next;
        std::free(spare_);
        spare_ = next;
    }
}

Operation* Matcher::older_wild(Operation* first, const wire::Envelope& e) const {
    const MatchKey patterns[] = {
        {}, {e.context, e.source, any_tag}, {e.context, any_source, e.tag}, {e.context, any_source, any_tag}};
    for (int form = 1; form < 4; ++form) {
        if (posted_of_form_[form] == 0) continue;
        Operation* const candidate = posted_.first(patterns[form]);
        if (candidate != nullptr && (first == nullptr || candidate->order < first->order)) first = candidate;
    }
    return first;
}

Unexpected* Matcher::first_of_form(int form, const MatchKey& key) const {
    switch (form) {
    case 1:
        return by_source_.first(key);
    case 2:
        return by_tag_.first(key);
    default:
        return by_context_.first(key);
    }
}

void Matcher::index(int form) {
    indexed_[form] = true;
    for (Unexpected* u = unexpected_.first(); u != nullptr; u = u->next) {
        if (form == 1) by_source_.push_back(*u);
        if (form == 2) by_tag_.push_back(*u);
        if (form == 3) by_context_.push_back(*u);
    }
}

const Incoming* Matcher::near_miss(const Operation& recv, transport::Peer from) const {
    const Incoming* elsewhere = nullptr;
    int looks = 256;
    for (const Unexpected* u = unexpected_.first(); u != nullptr && looks > 0; u = u->next, --looks) {
        const Incoming& m = u->message;
        const bool internal = (m.envelope.context & (1U | partitioned_context)) != 0;
        if (internal || (recv.source != any_source && m.from != from)) continue;
        if (m.envelope.context == recv.context) return &m;
        if (elsewhere == nullptr) elsewhere = &m;
    }
    return elsewhere;
}

Unexpected* Matcher::keep(const Incoming& message) {
    const size_t data = message.data_bytes;
    const size_t room = data > short_room ? data : short_room;
    void* memory = spare_;
    if (room == short_room && spare_ != nullptr) {
        spare_ = spare_->next;
        --spares_;
    } else {
        memory = std::malloc(sizeof(Unexpected) + room);
    }
    if (memory == nullptr) return nullptr;
    auto* u = new (memory) Unexpected{message, nullptr, nullptr, {}, room};
    if (message.data != nullptr) {
        auto* copy = reinterpret_cast<std::byte*>(u + 1);
        std::memcpy(copy, message.data, data);
        u->message.data = copy;
    }
    ++waiting_;
    if (shown_ != nullptr) shown_->set(Counter::unexpected_now, waiting_);
    unexpected_.push_back(*u);
    exact_.push_back(*u);
    if (indexed_[1]) by_source_.push_back(*u);
    if (indexed_[2]) by_tag_.push_back(*u);
    if (indexed_[3]) by_context_.push_back(*u);
    return u;
}

void Matcher::take(Unexpected& u) {
    --waiting_;
    if (shown_ != nullptr) shown_->set(Counter::unexpected_now, waiting_);
    unexpected_.remove(u);
    exact_.remove(u);
    if (indexed_[1]) by_source_.remove(u);
    if (indexed_[2]) by_tag_.remove(u);
    if (indexed_[3]) by_context_.remove(u);
}

void Matcher::release(Unexpected& u) {
    if (u.room != short_room || spares_ >= most_spare) return std::free(&u);
    u.next = spare_;
    spare_ = &u;
    ++spares_;
}

} // namespace zipmpi::proto
