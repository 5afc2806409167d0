// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames between mpiexec and its node daemons: a type, a length and the payload. Payloads consist of 32-bit
// and 64-bit numbers and of length-prefixed texts. Input is not trusted: every length is checked against the
// bytes present and against a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

enum class ControlFrameType : uint32_t {
    // mpiexec -> daemons
    start = 1,            // StartRequest
    stdin_data = 2,       // bytes for the ranks that read standard input
    stdin_end = 3,        // end of file for them
    signal = 4,           // u32: signal for all ranks
    end_job = 5,          // SIGTERM to all processes, SIGKILL after a grace period
    kill_job = 6,         // immediate SIGKILL
    request_snapshot = 7, // u32: id, returned in the reply
    pmix_fence_out = 9,   // every rank is in the PMIx fence; data of all ranks
    end_gateways = 11,    // every rank of the job has ended
    fence_out = 8,        // every rank is in the fence; key-value pairs for all
    kernel_share =
        12,           // u32 node, u32 first, u32 all: its ranks among all that share the cores of one machine
    fault_event = 10, // JobEvent: for all ranks, in one order everywhere
    release_ranks = 13,  // a debugger has seen the process table: ranks that wait in MPI_Init continue
    request_stacks = 14, // u32: id, returned in the reply; u32: seconds
    request_view = 15, // u32: round, returned in the reply; also from zipmpi top to mpiexec, without payload
    // daemons -> mpiexec
    output = 101,         // u32 stream (1, 2), u32 rank or no_rank, bytes
    failure = 102,        // Failure
    stdin_consumed = 103, // u32 node, u64: bytes that its ranks have read
    stdin_closed = 104,   // u32 node: none of its ranks reads
    snapshot = 105,       // u32 id, Snapshot
    done = 106,           // all processes of the job on and below this node have ended
    fence_in = 107,       // all ranks on and below this node are in the fence; key-value pairs for all
    pmix_fence_in = 108,
    placement_text = 109, // u32 node, text: placement of its ranks
    job_event = 110,      // JobEvent: for all ranks, or a contribution to an agreement
    gateway_failed = 111, // u32 number, text: it cannot be kept running
    ranks_finished = 112, // multi-cluster job: all ranks on and below this node have ended
    exit_codes = 113,     // u32 node, text: host, numbers: exit statuses of its ranks
    kernel_info = 114,    // u32 node, text, numbers: its machine, and the CPUs that it may use
    rank_pids = 115,      // u32 node, text: host, numbers: process ids of its ranks
    stacks = 116,         // u32 id, u32 node, HostStacks: of its ranks
    view = 117,           // u32 round, u32 node, HostView: its ranks; also from mpiexec to zipmpi top
    view_end = 118,       // mpiexec -> zipmpi top: numbers: nodes that have not replied
    // both directions
    heartbeat = 201, // liveness
    routed = 202,    // RoutedMessage: from one node to another, through the tree
};

inline constexpr uint32_t no_rank = UINT32_MAX; // output of the launcher
inline constexpr uint32_t max_frame_bytes = 64U << 20;

struct ControlFrame {
    ControlFrameType type{};
    std::string payload;
};

class PayloadWriter {
  public:
    PayloadWriter& u32(uint32_t v);
    PayloadWriter& u64(uint64_t v);
    PayloadWriter& i32(int32_t v) { return u32(static_cast<uint32_t>(v)); }
    PayloadWriter& text(std::string_view v);
    PayloadWriter& texts(const std::vector<std::string>& v);
    PayloadWriter& numbers(const std::vector<uint32_t>& v);
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

// Reads in the order of writing. After the first invalid read ok() is false and all reads return zero.
class PayloadReader {
  public:
    explicit PayloadReader(std::string_view bytes)
        : bytes_(bytes) {}
    uint32_t u32();
    uint64_t u64();
    int32_t i32() { return static_cast<int32_t>(u32()); }
    std::string text();
    std::vector<std::string> texts();
    std::vector<uint32_t> numbers();
    uint32_t count(size_t least_bytes_each); // number of elements, bounded by the bytes left
    std::string_view rest();
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool is_finished() const { return ok_ && bytes_.empty(); }

  private:
    std::string_view take(size_t n);
    std::string_view bytes_;
    bool ok_ = true;
};

std::string encode(ControlFrameType type, std::string_view payload);

// Splits a byte stream into frames.
class FrameDecoder {
  public:
    void feed(std::string_view bytes);
    bool next(ControlFrame& out);
    [[nodiscard]] bool is_malformed() const { return malformed_; } // protocol error of the peer

  private:
    std::string bytes_;
    size_t start_ = 0;
    bool malformed_ = false;
};

} // namespace zipmpi::launch
