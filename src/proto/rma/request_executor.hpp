// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Executes put, get, accumulate and compare-and-swap requests of active messages on the memory of this rank.
// Validates all contents before use.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/target_table.hpp"
#include "wire/rma_layout.hpp"

#include <vector>

namespace zipmpi::proto::rma {

class AttachedRanges;
class BatchReply;

class RequestExecutor {
  public:
    RequestExecutor(TargetTable& targets, const AttachedRanges& attached, const OpDecoder& decoder)
        : targets_(targets)
        , attached_(attached)
        , decoder_(decoder) {}

    // rest: further segments and data of the request. Results and refusals go to `reply`.
    void execute(const wire::RmaRequest& head, const std::byte* rest, BatchReply& reply);

  private:
    [[nodiscard]] bool read_segments(const wire::RmaRequest& head, const std::byte* rest);
    [[nodiscard]] bool add_segment(const wire::RmaSegment& segment);
    bool access(const wire::RmaRequest& head, const std::byte* data, BatchReply& reply);
    bool swap(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched);
    bool accumulate(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched);

    TargetTable& targets_;
    const AttachedRanges& attached_;
    OpDecoder decoder_;
    std::vector<iovec> iov_; // segments of the current request
    uint64_t iov_bytes_ = 0;
    ScratchBuffers scratch_;
};

} // namespace zipmpi::proto::rma
