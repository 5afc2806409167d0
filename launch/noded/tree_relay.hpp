// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The daemons below this one: starts them, forwards their frames to the parent, gathers fences, passes fault
// events on, and routes messages between nodes.
#pragma once

#include "launch/noded/node_job.hpp"
#include "launch/noded/parent_link.hpp"
#include "launch/tree/subtree.hpp"
#include "launch/tree/tree_fence.hpp"

namespace zipmpi::launch {

class TreeRelay {
  public:
    struct Handlers {
        Subtree::OnFailed child_failed;
        std::function<void(const RoutedMessage& m)> deliver; // message for this node
        std::function<void(const JobEvent& e)> job_event;
    };
    TreeRelay(const NodeJob& job, EventLoop& loop, ParentLink& parent, Handlers handlers);
    bool start(Diagnostic& why);

    [[nodiscard]] Subtree& subtree() { return subtree_; }
    [[nodiscard]] const Subtree& subtree() const { return subtree_; }
    [[nodiscard]] TreeFence& pmi_fence() { return pmi_fence_; }
    [[nodiscard]] TreeFence& pmix_fence() { return pmix_fence_; }
    void forward_fences(); // after a child has ended

    void send(const RoutedMessage& m) { route(encode(m)); }
    void route(const std::string& routed_message);
    // Once, when the ranks of this node and of all nodes below have ended.
    void report_ranks_finished();

  private:
    void on_child_frame(uint32_t child, const ControlFrame& f);

    const NodeJob& job_;
    ParentLink& parent_;
    Handlers handlers_;
    Subtree subtree_;
    TreeFence pmi_fence_, pmix_fence_;
    FenceGather ranks_finished_;
    bool ranks_finished_sent_ = false;
};

} // namespace zipmpi::launch
