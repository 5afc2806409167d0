// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Target-assisted transfer of noncontiguous data in private memory. CMA looks up the page of every segment
// (0.2 to 0.3 us each), while the owner of the memory needs a few nanoseconds. The origin packs the data into
// shared memory and posts a request; a target inside MPI takes it and moves the bytes. If the target does not
// take it in time, the origin withdraws the request and uses CMA, so no operation depends on the target.
//
//   origin  packs ── word: 0 -> request ── spins ──> done, or: word: request -> 0, CMA
//   target             progress: word: request -> 0 ── unpacks ── state: done
//
// One compare-and-swap on the request word decides which side moves the bytes. After a withdrawn request the
// origin backs off exponentially.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/progress/progress_task.hpp"
#include "proto/rma/iov_chunk.hpp"
#include "proto/rma/target_table.hpp"

#include <vector>

namespace zipmpi::proto::rma {

class AttachedRanges;

class TargetAssist {
  public:
    TargetAssist(const TargetTable& targets, const AttachedRanges& attached);
    ~TargetAssist();
    TargetAssist(const TargetAssist&) = delete;
    TargetAssist& operator=(const TargetAssist&) = delete;

    // Origin: whether to post a request for this many segments now; at most max_bytes per request.
    [[nodiscard]] bool is_worthwhile(int rank, uint64_t segments, uint64_t bytes);
    static constexpr uint64_t max_bytes = sizeof(wire::AssistRequest::data);
    // Returns true if the target has moved the bytes of the chunk.
    bool transfer(int rank, Direction direction, const TypedBuffer& here, const IovChunk& chunk);
    // Variant for data that is one strided run and fits into one request; needs no list of segments.
    [[nodiscard]] static bool is_single_run(const TypedBuffer& there);
    bool transfer_run(int rank, Direction direction, const TypedBuffer& here, const TypedBuffer& there);

  private:
    struct AssistHook : ProgressHook {
        TargetAssist* assist = nullptr;
    };
    struct MappedRequest { // assist request of a peer, mapped
        uint64_t word;
        wire::AssistRequest* request;
    };
    struct Backoff {
        uint16_t skips_left = 0; // opportunities still to skip
        uint16_t skip_count = 0; // skips after the last withdrawn request
    };
    // target side
    bool serve_one();
    int serve();
    [[nodiscard]] wire::AssistRequest* map_request(uint64_t word);
    [[nodiscard]] bool is_in_own_region(const wire::StridedRun& run) const;

    bool execute(wire::AssistRequest& request, transport::Peer peer);
    [[nodiscard]] bool move_runs(wire::AssistRequest& request, std::byte* packed, uint64_t bytes) const;

    // origin side
    struct PackedRange {
        uint64_t from;
        uint64_t bytes;
        uint64_t segments;
    };
    bool ensure_memory();
    bool post_request(int rank, Direction direction, const TypedBuffer& here, const PackedRange& packed);
    [[nodiscard]] bool is_complete() const;
    bool await_target(int rank, uint64_t timeout_ns);
    bool await_completion(int rank);

    const TargetTable& targets_;
    const AttachedRanges& attached_;
    std::atomic<uint64_t>& own_request_word_; // of this rank as a target
    wire::AssistRequest* request_ = nullptr;  // of this rank as an origin
    uint64_t request_word_ = 0;
    bool no_memory_ = false;
    os::LazyTable<Backoff> backoff_; // by target
    std::vector<MappedRequest> mapped_;
    std::vector<std::byte> packed_; // staging between the memory of a peer and local memory
    AssistHook hook_;
};

} // namespace zipmpi::proto::rma
