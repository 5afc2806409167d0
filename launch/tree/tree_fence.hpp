// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A kind of job-wide fence in a daemon: sends the contributions of this node and of the nodes below it to the
// parent when they are complete.
#pragma once

#include "launch/tree/fence.hpp"
#include "launch/tree/subtree.hpp"

#include <functional>

namespace zipmpi::launch {

template <class Children> // Subtree, or a simulated one
class BasicTreeFence {
  public:
    using Send = std::function<void(std::string pairs)>;
    explicit BasicTreeFence(const Children& below)
        : below_(below) {}

    void set_send(Send send) { send_ = std::move(send); }
    // Returns true if the local ranks need not enter the fence, because those left are in it or none is left.
    void set_local_exempt(std::function<bool()> exempt) { is_local_exempt_ = std::move(exempt); }

    void enter(std::string_view pairs) { // all local ranks
        gather_.add_local(pairs);
        forward_if_complete();
    }
    void add_child(uint32_t child, std::string_view pairs) {
        gather_.add_child(child, pairs);
        forward_if_complete();
    }
    void forward_if_complete() {
        if (gather_.any() && (gather_.has_local() || (is_local_exempt_ && is_local_exempt_())) &&
            gather_.has_all_children(below_))
            send_(gather_.take());
    }

  private:
    const Children& below_;
    Send send_;
    std::function<bool()> is_local_exempt_;
    FenceGather gather_;
};

using TreeFence = BasicTreeFence<Subtree>;

} // namespace zipmpi::launch
