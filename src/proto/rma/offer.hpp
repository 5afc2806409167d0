// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many pieces of private memory. The kernel looks up the page anew for each of them (0.2 to 0.3 us), while
// the owner of the memory needs a few nanoseconds. So the origin packs them into memory that both see and
// offers them to the target; a target that happens to be inside MPI takes the offer and moves the bytes. If
// it does not come soon, the origin takes the offer back and asks the kernel: nobody depends on the target.
//
//   origin  packs ── offer: 0 -> place ── spins ──> done, or: offer: place -> 0, kernel
//   target             progress: offer: place -> 0 ── unpacks ── state: done
//
// One compare-and-swap decides who moves the bytes. An origin that has offered in vain leaves out more and
// more chances before it tries again.
//
// Threads: under the lane's lock.
#pragma once

#include "proto/rma/pieces.hpp"

#include <vector>

namespace zipmpi::proto::rma {

struct Window::Offers {
    explicit Offers(Window& window);
    ~Offers();
    Offers(const Offers&) = delete;
    Offers& operator=(const Offers&) = delete;

    // Origin: whether so many pieces should be offered now, at most `longest` bytes at a time.
    [[nodiscard]] bool suits(int rank, uint64_t pieces, uint64_t bytes);
    static constexpr uint64_t longest = sizeof(wire::Offer::data);
    // True: the target has moved the bytes of the chunk.
    bool carry(int rank, bool write, const Data& here, const Chunk& chunk);
    // The same for data that are offered as a whole, and whose pieces need not be listed for that.
    [[nodiscard]] static bool is_simple(const Data& there);
    bool carry_simple(int rank, bool write, const Data& here, const Data& there);

  private:
    struct Watch : Watcher {
        Offers* offers = nullptr;
    };
    struct Seen { // an offer of a peer, mapped
        uint64_t word;
        wire::Offer* offer;
    };
    struct Luck {
        uint16_t left_out = 0; // chances that are still left out
        uint16_t vain = 0;     // that will be after the next offer in vain
    };
    // Target.
    bool serve_one();
    int serve();
    [[nodiscard]] wire::Offer* see(uint64_t word);
    [[nodiscard]] bool is_own(const wire::OfferRun& run) const;

    bool move_offered(wire::Offer& offer, transport::Peer peer);
    [[nodiscard]] bool move(wire::Offer& offer, std::byte* packed, uint64_t bytes) const;

    struct Packed {
        uint64_t from;
        uint64_t bytes;
        uint64_t pieces;
    };
    bool have_memory();
    bool offer(int rank, bool write, const Data& here, const Packed& packed);
    [[nodiscard]] bool is_over() const;
    bool await_target(int rank, uint64_t patience_ns);
    bool await_end(int rank);

    Window& window_;
    std::atomic<uint64_t>& own_offer_; // for this rank as a target
    wire::Offer* mine_ = nullptr;      // this rank's, as an origin
    uint64_t word_ = 0;
    bool no_memory_ = false;
    std::vector<Luck> luck_; // by target
    std::vector<Seen> seen_;
    std::vector<std::byte> packed_; // on their way between a peer's memory and the own
    Watch watch_;
};

} // namespace zipmpi::proto::rma
