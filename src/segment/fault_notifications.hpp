// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fault notifications in the node segment: failed ranks and revoked communicators. They have one writer, the
// launcher, which wakes all ranks of the node; the lists only grow, so readers need no lock.
#pragma once

#include "wire/segment_layout.hpp"

#include <cstdint>

namespace zipmpi::segment {

class NodeSegment;

class FaultNotifications {
  public:
    // failed, revoked: the lists in the segment.
    FaultNotifications(const NodeSegment& segment, wire::SegmentHeader& header, uint32_t* failed,
                       uint32_t* revoked)
        : segment_(segment)
        , header_(header)
        , failed_(failed)
        , revoked_(revoked) {}

    [[nodiscard]] const wire::FaultState& state() const { return header_.fault_state; }
    [[nodiscard]] int failed_rank(uint32_t i) const { return static_cast<int>(failed_[i]); }
    [[nodiscard]] uint32_t revoked_context(uint32_t i) const { return revoked_[i]; }
    void set_fault_tolerant() const { header_.fault_state.fault_tolerant = 1; }
    void publish_failed(int world_rank) const;
    void publish_revoked(uint32_t context) const;
    // Wakes all ranks, which find what was published before: once after several calls of the functions above
    // and of AgreementResults::publish().
    void notify() const;

  private:
    void mark_failed(uint32_t local) const;
    [[nodiscard]] bool reserve_entry(const uint32_t* entry) const;
    void append(std::atomic<uint32_t>& count, uint32_t* list, uint32_t most, uint32_t entry) const;

    const NodeSegment& segment_;
    wire::SegmentHeader& header_;
    uint32_t* failed_;
    uint32_t* revoked_;
};

} // namespace zipmpi::segment
