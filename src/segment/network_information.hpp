// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the ranks of a node of a multi-node job share to set up their network: the keys of the job, addresses
// of ranks on other hosts, and the devices that reach them.
#pragma once

#include "wire/segment_layout.hpp"

#include <cstdint>
#include <string_view>

namespace zipmpi::segment {

class NodeSegment;

class NetworkInformation {
  public:
    NetworkInformation(const NodeSegment& segment, wire::SegmentHeader& header, wire::AddressSlot* addresses)
        : segment_(segment)
        , header_(header)
        , addresses_(addresses) {}

    void set_keys(const wire::SegmentKeys& keys) const { header_.keys = keys; }
    [[nodiscard]] wire::AddressSlot& address_slot(int world_rank) const { return addresses_[world_rank]; }
    // Must precede the first use of the slot. Returns false if memory is short.
    [[nodiscard]] bool reserve_address_slot(int world_rank) const;
    // Devices that reach the other hosts: set by one rank (known or none), awaited by the others.
    void set_devices(wire::DevicesState state, std::string_view devices, std::string_view probe_log) const;
    [[nodiscard]] bool wait_for_devices() const;

  private:
    const NodeSegment& segment_;
    wire::SegmentHeader& header_;
    wire::AddressSlot* addresses_; // by world rank
};

} // namespace zipmpi::segment
