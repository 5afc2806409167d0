// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How much of mpiexec's standard input is on its way to the nodes whose ranks read it. The slowest counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace zipmpi::launch {

class StdinWindow {
  public:
    static constexpr size_t most = 64U << 10;

    void add_node(uint32_t node) { taken_[node] = 0; }
    void sent(size_t bytes) { sent_ += bytes; }
    void taken(uint32_t node, uint64_t bytes) {
        if (const auto it = taken_.find(node); it != taken_.end())
            it->second = std::min(sent_, it->second + bytes);
    }
    void closed(uint32_t node) { taken_.erase(node); }

    [[nodiscard]] bool anybody_reads() const { return !taken_.empty(); }
    // Bytes that may be sent.
    [[nodiscard]] size_t room() const {
        uint64_t least = sent_;
        for (const auto& [node, bytes] : taken_) least = std::min(least, bytes);
        return most - std::min<uint64_t>(most, sent_ - least);
    }

  private:
    std::map<uint32_t, uint64_t> taken_; // by node
    uint64_t sent_ = 0;
};

} // namespace zipmpi::launch
