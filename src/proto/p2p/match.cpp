// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/match.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace zipmpi::proto {
namespace {

bool fits(const wire::Envelope& e, uint32_t context, int source, int tag) {
    return e.context == context && (source == any_source || source == e.source) &&
           (tag == any_tag || tag == e.tag);
}

} // namespace

Matcher::~Matcher() {
    for (Bucket& b : buckets_)
        while (b.unexpected.first() != nullptr) discard(*b.unexpected.first());
}

Operation* Matcher::take_posted(const wire::Envelope& e) {
    Bucket& b = bucket(e.context);
    for (Operation* r = b.posted.first(); r != nullptr; r = r->next)
        if (fits(e, r->context, r->source, r->tag)) {
            b.posted.remove(*r);
            return r;
        }
    return nullptr;
}

Unexpected* Matcher::find_unexpected(uint32_t context, int source, int tag) const {
    for (Unexpected* u = bucket(context).unexpected.first(); u != nullptr; u = u->next)
        if (fits(u->message.envelope, context, source, tag)) return u;
    return nullptr;
}

const Incoming* Matcher::near_miss(const Operation& recv, transport::Peer from) const {
    const Incoming* elsewhere = nullptr;
    int looks = 256;
    for (const Bucket& b : buckets_)
        for (const Unexpected* u = b.unexpected.first(); u != nullptr && looks > 0; u = u->next, --looks) {
            const Incoming& m = u->message;
            const bool internal = (m.envelope.context & (1U | partitioned_context)) != 0;
            if (internal || (recv.source != any_source && m.from != from)) continue;
            if (m.envelope.context == recv.context) return &m;
            if (elsewhere == nullptr) elsewhere = &m;
        }
    return elsewhere;
}

Unexpected* Matcher::keep(const Incoming& message) {
    const size_t data = message.data != nullptr ? message.bytes : 0;
    void* memory = std::malloc(sizeof(Unexpected) + data);
    if (memory == nullptr) return nullptr;
    auto* u = new (memory) Unexpected{message};
    if (message.data != nullptr) {
        auto* copy = reinterpret_cast<std::byte*>(u + 1);
        std::memcpy(copy, message.data, data);
        u->message.data = copy;
    }
    bucket(message.envelope.context).unexpected.push_back(*u);
    return u;
}

void Matcher::release(Unexpected& u) { std::free(&u); }

} // namespace zipmpi::proto
