// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sender and receiver claim chunks of two consecutive cooperative copies in one slot: every chunk is copied
// once, the receiver ends a copy only when the sender has written its chunks, and an offer that the sender
// reads late claims nothing of the next copy.
#include "proto/p2p/chunks.hpp"
#include "schedules.hpp"

#include <memory>

using namespace zipmpi;

namespace {

constexpr uint32_t chunks = 3;
constexpr uint32_t copies = 2;

struct Transfer {
    wire::CoopCopySlot slot{};
    std::atomic<uint32_t> offers{0};
    int copied[copies + 1][chunks] = {}; // by number of the copy
    bool ended[copies + 1] = {};
    void copy_chunk(uint32_t number, uint32_t chunk) {
        explore::require(!ended[number], "a chunk is written after the end of its copy");
        ++copied[number][chunk];
    }
};

// As CoopCopier::start() and try_finish().
void receive(Transfer& t) {
    for (uint32_t number = 1; number <= copies; ++number) {
        t.slot.sender_chunks.store(0, std::memory_order_relaxed);
        t.slot.taken.store(uint64_t{number} << 32, std::memory_order_release);
        t.offers.store(number, std::memory_order_seq_cst);
        uint32_t own = 0;
        for (uint32_t chunk = 0; proto::take_chunk(t.slot, number, chunks, proto::ChunkEnd::front, chunk);
             ++own)
            t.copy_chunk(number, chunk);
        explore::wait_until([&t, own] { return own + t.slot.sender_chunks.load() >= chunks; });
        t.slot.taken.store(0, std::memory_order_release);
        t.ended[number] = true;
        for (const int times : t.copied[number])
            explore::require(times == 1, "a chunk is not copied exactly once");
    }
}

// As CoopCopier::on_offer().
void send(Transfer& t) {
    for (uint32_t number = 1; number <= copies; ++number) {
        explore::wait_until([&t, number] { return t.offers.load() >= number; });
        for (uint32_t chunk = 0; proto::take_chunk(t.slot, number, chunks, proto::ChunkEnd::back, chunk);) {
            t.copy_chunk(number, chunk);
            t.slot.sender_chunks.fetch_add(1, std::memory_order_seq_cst);
        }
    }
}

} // namespace

int main() {
    const auto make = [] {
        const auto t = std::make_shared<Transfer>();
        explore::Threads threads;
        threads.emplace_back([t] { receive(*t); });
        threads.emplace_back([t] { send(*t); });
        return threads;
    };
    return explore::report("coop", explore::explore({4, 1, 0}, make));
}
