// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One fence of the job as seen by one process of the tree: the children that have entered it, and their
// pairs. A child enters once per fence; a child that has ended or has no ranks counts as present in every
// fence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::launch {

class FenceGather {
  public:
    void add_local(std::string_view pairs) {
        local_ = true;
        pairs_ += pairs;
    }
    void add_child(uint32_t child, std::string_view pairs) {
        if (arrived_.size() <= child) arrived_.resize(child + 1);
        arrived_[child] = true;
        any_ = true;
        pairs_ += pairs;
    }
    [[nodiscard]] bool has_local() const { return local_; }
    [[nodiscard]] bool any() const { return local_ || any_; }
    template <class Children> // Subtree, or a simulated one
    [[nodiscard]] bool has_all_children(const Children& below) const {
        for (uint32_t i = 0; i < below.children(); ++i)
            if (!below.exempt_from_fence(i) && (i >= arrived_.size() || !arrived_[i])) return false;
        return true;
    }
    std::string take() { // returns the pairs of the complete fence and starts the next one
        std::string pairs = std::move(pairs_);
        *this = FenceGather();
        return pairs;
    }

  private:
    std::vector<bool> arrived_;
    std::string pairs_;
    bool local_ = false, any_ = false;
};

} // namespace zipmpi::launch
