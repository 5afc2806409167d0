// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Results of agreements in the node segment: published to each rank by the launcher, consumed by the rank.
#pragma once

#include <cstdint>

namespace zipmpi::segment {

class NodeSegment;

// Result of an agreement, identified by context and number; see wire::AgreementSlot.
struct AgreementResult {
    uint32_t context = 0;
    uint32_t number = 0;
    uint32_t flags = 0;
    uint32_t value = 0;
    uint32_t failed = 0;
};

class AgreementResults {
  public:
    explicit AgreementResults(const NodeSegment& segment)
        : segment_(segment) {}

    // Returns false if no slot is free; the rank then notifies the launcher after taking a result. A call of
    // FaultNotifications::notify() follows, one for all results.
    [[nodiscard]] bool publish(uint32_t local, const AgreementResult& decided) const;
    // Consumes a result published to this rank. Returns false if there is none.
    bool take(uint32_t local, AgreementResult& decided) const;
    // Called after results were taken. Returns true if the launcher has more and waits for a notification.
    [[nodiscard]] bool take_overflow(uint32_t local) const;

  private:
    [[nodiscard]] bool publish_in_free_slot(uint32_t local, const AgreementResult& decided) const;

    const NodeSegment& segment_;
};

} // namespace zipmpi::segment
