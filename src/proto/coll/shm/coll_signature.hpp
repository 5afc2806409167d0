// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Signature of a call, by which the members of a collective buffer detect that they call different
// collectives.
#pragma once

#include "base/err.hpp"

#include <cstdint>
#include <utility>

namespace zipmpi::proto::coll {

// Kind of a collective, as members compare it.
enum class CollKind : uint32_t {
    barrier,
    broadcast,
    reduce,
    allreduce,
    scan,
    reduce_scatter,
    gather,
    scatter,
    allgather,
    alltoall,
    agreement
};

struct CollSignature {
    static constexpr uint32_t max_bytes = (1U << 26) - 1;
    uint32_t sequence; // of the collective, for reports
    uint32_t encoded;  // low 26 bits: bytes; high bits: kind and root

    CollSignature(uint32_t collective, CollKind function, uint64_t bytes, int root = 0)
        : sequence(collective)
        , encoded(static_cast<uint32_t>(bytes < max_bytes ? bytes : max_bytes) |
                  (static_cast<uint32_t>(function) + 17 * static_cast<uint32_t>(root)) << 26) {}
};

// The current call of this member and the first mismatch with another member.
class SignatureCheck {
  public:
    void begin(const CollSignature& call) {
        sequence_ = call.sequence;
        own_ = call.encoded;
    }
    [[nodiscard]] uint32_t sequence() const { return sequence_; }
    [[nodiscard]] uint32_t own() const { return own_; }
    // Compares with the signature of another member.
    void compare(int member, uint32_t signature) {
        if (signature != own_) [[unlikely]]
            record_mismatch(member, signature);
    }
    [[gnu::cold]] void record_mismatch(int member, uint32_t signature) {
        mismatched_member_ = member;
        mismatched_ = signature;
    }
    // The member of the mismatch since the last call; -1: none.
    [[nodiscard]] int take_mismatch() {
        return mismatched_member_ < 0 ? -1 : std::exchange(mismatched_member_, -1);
    }
    // The error of a mismatch with `rank` of the communicator.
    [[gnu::cold]] [[nodiscard]] Err mismatch_error(int rank) const;

  private:
    uint32_t sequence_ = 0;
    uint32_t own_ = 0;
    int mismatched_member_ = -1;
    uint32_t mismatched_ = 0;
};

} // namespace zipmpi::proto::coll
