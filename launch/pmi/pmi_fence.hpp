// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ranks of this node that are in the current fence, and the pairs that they contribute to it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zipmpi::launch {

class PmiFence {
  public:
    void add_member() { members_.emplace_back(); } // the next rank, by local index
    [[nodiscard]] bool has_member(uint32_t client) const { return client < members_.size(); }
    void enter(uint32_t rank) { members_[rank].in_fence = true; }
    void end(uint32_t rank) { members_[rank].ended = true; } // excluded from now on
    void add_pairs(const std::string& pairs) { pairs_ += pairs; }

    [[nodiscard]] bool is_complete() const { // every rank is in the fence or has exited
        for (const Member& m : members_)
            if (!m.in_fence && !m.ended) return false;
        return true;
    }
    [[nodiscard]] bool is_sent() const { return sent_; }
    // Returns false if no rank is in the fence; else marks it as sent to the other nodes.
    bool mark_sent() {
        for (const Member& m : members_) sent_ = sent_ || m.in_fence;
        return sent_;
    }
    [[nodiscard]] std::string take_pairs() { return std::exchange(pairs_, {}); }
    // Ends the fence. Returns the ranks in it.
    [[nodiscard]] std::vector<uint32_t> release() {
        sent_ = false;
        std::vector<uint32_t> all;
        for (uint32_t rank = 0; rank < members_.size(); ++rank)
            if (std::exchange(members_[rank].in_fence, false)) all.push_back(rank);
        return all;
    }

  private:
    struct Member {
        bool in_fence = false, ended = false;
    };
    std::vector<Member> members_;
    std::string pairs_; // put since the last fence under keys that do not name their rank
    bool sent_ = false;
};

} // namespace zipmpi::launch
