// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The requests that an aggregator serves in a round of two-phase access: file ranges and data of each
// process, read or written together in file order.
#pragma once

#include "core/datatype/contiguous.hpp"
#include "core/io/posix_file.hpp"
#include "core/io/view.hpp"
#include "proto/coll/coll.hpp"

#include <vector>

namespace zipmpi::core::io {

// Amount of data between two processes in a round.
struct TransferSize {
    uint64_t ranges = 0;
    uint64_t bytes = 0;
};

class ServedRequests {
  public:
    // --- to be received in a round: a size, then a list of that size from each process, by rank
    std::vector<TransferSize>& start_round(size_t processes);
    std::vector<std::vector<FileRange>>& make_lists();
    // Memory for the data of all processes. False: memory is exhausted.
    bool allocate_data();

    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    [[nodiscard]] const std::vector<proto::coll::Block>& data() const { return data_; } // by rank

    // Do nothing after a failure. Data beyond the end of the file is 0.
    void read(int fd);
    void write(int fd);
    [[nodiscard]] Err failure() const { return failure_; }
    [[nodiscard]] int64_t end() const { return end_; } // of the file, if it was reached

  private:
    void list_segments();

    std::vector<TransferSize> sizes_;
    std::vector<std::vector<FileRange>> lists_;
    std::vector<proto::coll::Block> data_;
    uint64_t bytes_ = 0;
    HeapBytes memory_;
    std::vector<FileSegment> segments_;
    std::vector<FileSegment> merged_; // member to reuse its memory
    Err failure_ = Err::success;
    int64_t end_ = eof_not_reached;
};

} // namespace zipmpi::core::io
