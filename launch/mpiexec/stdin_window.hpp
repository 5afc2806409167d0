// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Flow control of mpiexec's standard input: bytes sent to the nodes and not yet read. The slowest node
// counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace zipmpi::launch {

class StdinWindow {
  public:
    static constexpr size_t max_in_flight = 64U << 10;

    void add_node(uint32_t node) { consumed_[node] = 0; }
    void on_sent(size_t bytes) { sent_ += bytes; }
    void on_consumed(uint32_t node, uint64_t bytes) {
        if (const auto it = consumed_.find(node); it != consumed_.end())
            it->second = std::min(sent_, it->second + bytes);
    }
    void on_closed(uint32_t node) { consumed_.erase(node); }

    [[nodiscard]] bool has_readers() const { return !consumed_.empty(); }
    // Bytes that may be sent.
    [[nodiscard]] size_t available() const {
        uint64_t least = sent_;
        for (const auto& [node, bytes] : consumed_) least = std::min(least, bytes);
        return max_in_flight - std::min<uint64_t>(max_in_flight, sent_ - least);
    }

  private:
    std::map<uint32_t, uint64_t> consumed_; // by node
    uint64_t sent_ = 0;
};

} // namespace zipmpi::launch
