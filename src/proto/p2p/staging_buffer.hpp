// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// StagingBuffer: memory for packed bytes between two layouts; it grows and is reused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zipmpi::proto {

class StagingBuffer {
  public:
    explicit StagingBuffer(size_t usual_bytes)
        : usual_bytes_(usual_bytes) {}
    // Valid until the next call.
    [[nodiscard]] std::byte* reserve(uint64_t bytes) {
        if (memory_.size() < bytes) memory_.resize(std::max<size_t>(bytes, usual_bytes_));
        return memory_.data();
    }

  private:
    size_t usual_bytes_;
    std::vector<std::byte> memory_;
};

} // namespace zipmpi::proto
