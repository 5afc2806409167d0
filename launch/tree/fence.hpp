// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One fence of the whole job, as one process of the tree sees it: who of those below has come, and the pairs
// that they bring. A child comes once per fence; one that is over, or has no ranks, has come for ever.
#pragma once

#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class FenceGather {
  public:
    void add_own(std::string_view pairs) {
        own_ = true;
        pairs_ += pairs;
    }
    void add_child(uint32_t child, std::string_view pairs) {
        if (came_.size() <= child) came_.resize(child + 1);
        came_[child] = true;
        any_ = true;
        pairs_ += pairs;
    }
    [[nodiscard]] bool has_own() const { return own_; }
    [[nodiscard]] bool any() const { return own_ || any_; }
    [[nodiscard]] bool all_below(const Subtree& below) const {
        for (uint32_t i = 0; i < below.children(); ++i)
            if (!below.quiet(i) && (i >= came_.size() || !came_[i])) return false;
        return true;
    }
    std::string take() { // the fence is complete: the next one begins
        std::string pairs = std::move(pairs_);
        *this = FenceGather();
        return pairs;
    }

  private:
    std::vector<bool> came_;
    std::string pairs_;
    bool own_ = false, any_ = false;
};

} // namespace zipmpi::launch
