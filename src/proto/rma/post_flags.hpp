// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The members that have posted to a member of a window: one bit each, in the node segment.
#pragma once

#include "proto/rma/target_table.hpp"

namespace zipmpi::proto::rma {

class PostFlags {
  public:
    PostFlags(const TargetTable& targets, int member)
        : words_(reinterpret_cast<std::atomic<uint64_t>*>(
              reinterpret_cast<std::byte*>(&targets.member(0)) +
              wire::WindowGeometry{static_cast<uint32_t>(targets.team().size)}.posted_offset(
                  static_cast<uint32_t>(member)))) {}

    void set(int from) const { word(from).fetch_or(bit(from), std::memory_order_seq_cst); }
    void clear(int from) const { word(from).fetch_and(~bit(from), std::memory_order_seq_cst); }
    [[nodiscard]] bool is_set(int from) const {
        return (word(from).load(std::memory_order_seq_cst) & bit(from)) != 0;
    }

  private:
    [[nodiscard]] std::atomic<uint64_t>& word(int from) const { return words_[from / 64]; }
    static uint64_t bit(int from) { return uint64_t{1} << (from % 64); }

    std::atomic<uint64_t>* words_;
};

} // namespace zipmpi::proto::rma
