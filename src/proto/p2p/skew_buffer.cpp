// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/skew_buffer.hpp"

#include "base/param.hpp"
#include "proto/p2p/payload.hpp"

#include <cstdlib>
#include <new>

namespace zipmpi::proto {
namespace {

Param<int64_t> memory{"p2p.skew_buffer",
                      16 * MiB,
                      {0, INT64_MAX},
                      Unit::bytes,
                      Level::tuner,
                      Scope::local,
                      "bytes a rank may buffer for receivers that lag behind; 0: none"};

// A reply that takes longer than this, plus 1 ns per byte for the copy, comes from a busy receiver.
constexpr uint64_t slow_reply_ns = 50'000;
// Consecutive replies without unexpected messages after which a receiver counts as caught up.
constexpr uint8_t caught_up_replies = 16;

} // namespace

struct SkewBuffer::SendCopy : Operation {
    SkewBuffer* owner = nullptr;
    uint64_t capacity = 0;
    std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

SkewBuffer::~SkewBuffer() {
    for (SendCopy* copy : spare_) std::free(copy);
}

void SkewBuffer::on_reply(uint32_t peer, uint32_t unexpected, uint64_t bytes, uint64_t now_ns) {
    PeerSkew& p = peers_[peer];
    const bool slow = now_ns - p.last_reply_ns > slow_reply_ns + bytes;
    p.last_reply_ns = now_ns;
    if (unexpected >= 2 && slow) {
        p.receiver_behind = true;
        p.timely_replies = 0;
    } else if (unexpected == 0 && p.receiver_behind && ++p.timely_replies >= caught_up_replies) {
        p.receiver_behind = false;
        p.timely_replies = 0;
    }
}

Operation* SkewBuffer::make_copy(const Operation& send) {
    SendCopy* copy = nullptr;
    if (!spare_.empty() && spare_.back()->capacity >= send.bytes) {
        copy = spare_.back();
        spare_.pop_back();
    } else {
        while (!spare_.empty() && bytes_ + send.bytes > static_cast<uint64_t>(memory.get())) {
            bytes_ -= spare_.back()->capacity;
            std::free(spare_.back());
            spare_.pop_back();
        }
        if (bytes_ + send.bytes > static_cast<uint64_t>(memory.get())) return nullptr;
        void* const block = std::malloc(sizeof(SendCopy) + send.bytes);
        if (block == nullptr) return nullptr;
        copy = new (block) SendCopy;
        copy->capacity = send.bytes;
        bytes_ += send.bytes;
    }
    ++copies_;
    load_payload(send, 0, copy->data(), send.bytes);
    static_cast<Operation&>(*copy) = send;
    copy->owner = this;
    copy->layout = nullptr;
    copy->buffer = copy->data();
    copy->on_done = [](Operation& op) {
        auto& done = static_cast<SendCopy&>(op);
        done.owner->discard(done);
    };
    return copy;
}

void SkewBuffer::discard(Operation& copy) {
    --copies_;
    spare_.push_back(&static_cast<SendCopy&>(copy));
}

} // namespace zipmpi::proto
