// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks discover about their node and share in the node segment: wire::NodeInfo and the locality of each
// rank. A rank that has announced its sleep (arm) calls await() and checks once more; a rank that publishes
// information by a seq_cst store then calls notify().
#pragma once

#include "wire/segment_layout.hpp"

#include <cstdint>

namespace zipmpi::segment {

class NodeSegment;

class NodeInformation {
  public:
    NodeInformation(const NodeSegment& segment, wire::NodeInfo& shared, wire::LocalitySlot* localities)
        : segment_(segment)
        , shared_(shared)
        , localities_(localities) {}

    [[nodiscard]] wire::NodeInfo& shared() const { return shared_; }
    [[nodiscard]] wire::LocalitySlot& locality(uint32_t local) const { return localities_[local]; }
    void await() const { shared_.awaited.store(1, std::memory_order_seq_cst); }
    void notify() const;

  private:
    const NodeSegment& segment_;
    wire::NodeInfo& shared_;
    wire::LocalitySlot* localities_;
};

} // namespace zipmpi::segment
