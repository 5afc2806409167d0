// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The members that have posted to a member of a window on this node: one bit each, in the node segment.
#pragma once

#include "proto/rma/target_table.hpp"

namespace zipmpi::proto::rma {

class PostFlags {
  public:
    PostFlags(const TargetTable& targets, int member)
        : words_(targets.posted(member)) {}

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
