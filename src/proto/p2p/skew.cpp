// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/skew.hpp"

#include "base/param.hpp"
#include "proto/p2p/payload.hpp"

#include <cstdlib>
#include <new>

namespace zipmpi::proto {
namespace {

Param<int64_t> memory{"p2p.skew_memory",
                      16 * MiB,
                      {0, INT64_MAX},
                      Unit::bytes,
                      Level::tuner,
                      Scope::local,
                      "most memory of a rank for copies of messages whose receivers are behind; 0: none"};

// Answers that take longer than this, beside what the copy may take, come from a receiver that is busy.
constexpr uint64_t slow_answer_ns = 50'000;
// How many answers must find their receive posted before a receiver counts as in time again.
constexpr uint8_t enough_in_time = 16;

} // namespace

struct Skew::Copy : Operation {
    Skew* home = nullptr;
    uint64_t room = 0;
    std::byte* bytes_of() { return reinterpret_cast<std::byte*>(this + 1); }
};

Skew::~Skew() {
    for (Copy* copy : spare_) std::free(copy);
}

void Skew::answered(uint32_t peer, uint32_t unreceived, uint64_t bytes, uint64_t now_ns) {
    Peer& p = peers_[peer];
    const bool slow = now_ns - p.last_answer_ns > slow_answer_ns + bytes;
    p.last_answer_ns = now_ns;
    if (unreceived >= 2 && slow) {
        p.behind = true;
        p.in_time = 0;
    } else if (unreceived == 0 && p.behind && ++p.in_time >= enough_in_time) {
        p.behind = false;
        p.in_time = 0;
    }
}

Operation* Skew::make_copy(const Operation& send) {
    Copy* copy = nullptr;
    if (!spare_.empty() && spare_.back()->room >= send.bytes) {
        copy = spare_.back();
        spare_.pop_back();
    } else {
        while (!spare_.empty() && bytes_ + send.bytes > static_cast<uint64_t>(memory.get())) {
            bytes_ -= spare_.back()->room;
            std::free(spare_.back());
            spare_.pop_back();
        }
        if (bytes_ + send.bytes > static_cast<uint64_t>(memory.get())) return nullptr;
        void* const block = std::malloc(sizeof(Copy) + send.bytes);
        if (block == nullptr) return nullptr;
        copy = new (block) Copy;
        copy->room = send.bytes;
        bytes_ += send.bytes;
    }
    ++copies_;
    load_payload(send, 0, copy->bytes_of(), send.bytes);
    static_cast<Operation&>(*copy) = send;
    copy->home = this;
    copy->layout = nullptr;
    copy->buffer = copy->bytes_of();
    copy->on_done = [](Operation& op) {
        auto& done = static_cast<Copy&>(op);
        done.home->discard(done);
    };
    return copy;
}

void Skew::discard(Operation& copy) {
    --copies_;
    spare_.push_back(&static_cast<Copy&>(copy));
}

} // namespace zipmpi::proto
