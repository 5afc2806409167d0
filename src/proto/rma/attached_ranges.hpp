// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory attached to a dynamic window.
#pragma once

#include <cstdint>
#include <vector>

namespace zipmpi::proto::rma {

class AttachedRanges {
  public:
    // Returns false if the range overlaps with an attached one.
    bool attach(uint64_t base, uint64_t size);
    // Returns false if no range is attached at base.
    bool detach(uint64_t base);
    // Adjacent ranges count as one.
    [[nodiscard]] bool contains(uint64_t base, uint64_t size) const;

  private:
    struct Range {
        uint64_t base;
        uint64_t size;
    };
    std::vector<Range> ranges_;
};

} // namespace zipmpi::proto::rma
