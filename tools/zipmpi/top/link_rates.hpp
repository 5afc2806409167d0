// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic between ranks per second, from the communication matrix that ranks always maintain. Sampled only
// while it is shown.
#pragma once

#include "launch/report/snapshot.hpp"
#include "segment/node_segment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::tool {

class LinkRates {
  public:
    // begin(): resets the counts. sample(): reads them; `ranks`: those of this node, in the order of the
    // segment.
    void begin() { *this = LinkRates(); }
    void sample(const segment::NodeSegment& segment, const launch::Snapshot& ranks);

    struct LinkRow {
        int from = 0, to = 0;
        bool intra_node = true;                          // both are on this node
        double messages = 0, bytes = 0, collectives = 0; // per second; bytes of both kinds
    };
    // The busiest first; idle links are omitted.
    [[nodiscard]] const std::vector<LinkRow>& rows() const { return rows_; }
    [[nodiscard]] std::string summary() const; // "4 of 12 links are busy: 1.2M within this node, ..."
    static std::string heading();
    static std::string line_of(const LinkRow& row, double most_bytes);

  private:
    struct Count {
        uint64_t messages = 0, collectives = 0, bytes = 0;
    };
    std::vector<std::vector<Count>> before_; // per rank, in the order of its peers
    size_t links_ = 0;
    uint64_t before_ns_ = 0;
    std::vector<LinkRow> rows_;
};

} // namespace zipmpi::tool
