// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames between mpiexec and its node daemons: a type, a length, and that many bytes. Payloads are built of
// 32-bit and 64-bit numbers and of texts with their length in front. Nothing that comes in is trusted: every
// length is checked against what is there and against a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

enum class FrameType : uint32_t {
    // mpiexec -> daemons
    start = 1,          // StartRequest
    stdin_data = 2,     // bytes for the ranks that read standard input
    stdin_end = 3,      // end of file for them
    signal = 4,         // u32: pass this signal on to all ranks
    end_job = 5,        // SIGTERM to what runs, SIGKILL a moment later
    kill_job = 6,       // SIGKILL at once
    ask_snapshot = 7,   // u32: an id, given back in the answer
    pmix_fence_out = 9, // the same for PMIx: what all ranks have put
    end_gateways = 11,  // every rank of the job has ended
    fence_out = 8,      // every rank is in the fence; key-value pairs that all get
    shared_kernel = 12, // u32 node, u32, u32: its ranks are these of all that share the cores of one machine
    news = 10,          // Event: what all ranks must know, in one order everywhere
    // daemons -> mpiexec
    output = 101,       // u32 stream (1, 2), u32 rank or no_rank, bytes
    failure = 102,      // Failure
    stdin_taken = 103,  // u32 node, u64: bytes that its ranks have taken
    stdin_closed = 104, // u32 node: none of its ranks reads any more
    snapshot = 105,     // u32 id, Snapshot
    done = 106,         // every process of the job on this node, and on those below it, is gone
    fence_in = 107,     // all ranks on and below this node are in the fence; key-value pairs for all
    pmix_fence_in = 108,
    picture = 109,      // u32 node, text: where its ranks are
    event = 110,        // Event: something that all ranks must know, or a part of an agreement
    gateway_lost = 111, // u32 number, text: it cannot be kept running
    ranks_over = 112,   // in a grid: all ranks on and below this node have ended
    exit_codes = 113,   // u32 node, text: its host, numbers: how its ranks have ended
    kernel = 114,       // u32 node, text, numbers: which machine it is on, and the CPUs that it may use there
    // both ways
    beat = 201,   // I am alive
    routed = 202, // Routed: from one node to another, through the tree
};

inline constexpr uint32_t no_rank = UINT32_MAX; // output of the launcher itself
inline constexpr uint32_t frame_limit = 64U << 20;

struct Frame {
    FrameType type{};
    std::string payload;
};

class Writer {
  public:
    Writer& u32(uint32_t v);
    Writer& u64(uint64_t v);
    Writer& i32(int32_t v) { return u32(static_cast<uint32_t>(v)); }
    Writer& text(std::string_view v);
    Writer& texts(const std::vector<std::string>& v);
    Writer& numbers(const std::vector<uint32_t>& v);
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

// Reads back in the same order. After the first thing that does not fit, ok() is false and all reads give
// zero.
class Reader {
  public:
    explicit Reader(std::string_view bytes)
        : bytes_(bytes) {}
    uint32_t u32();
    uint64_t u64();
    int32_t i32() { return static_cast<int32_t>(u32()); }
    std::string text();
    std::vector<std::string> texts();
    std::vector<uint32_t> numbers();
    uint32_t count(size_t least_bytes_each); // a number of elements that can really follow
    std::string_view rest();
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool finished() const { return ok_ && bytes_.empty(); }

  private:
    std::string_view take(size_t n);
    std::string_view bytes_;
    bool ok_ = true;
};

std::string encode(FrameType type, std::string_view payload);

// Cuts a byte stream into frames.
class FrameDecoder {
  public:
    void feed(std::string_view bytes);
    bool next(Frame& out);
    [[nodiscard]] bool broken() const { return broken_; } // the peer does not speak this protocol

  private:
    std::string bytes_;
    size_t start_ = 0;
    bool broken_ = false;
};

} // namespace zipmpi::launch
