// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "virtual_launch.hpp"

#include "launch/mpiexec/options.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/tree/child_ranges.hpp"
#include "launch/tree/tree_fence.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::sim {
namespace {

using launch::NodeRange;
using launch::PmiServer;

launch::StartRequest make_request(const JobShape& shape) {
    launch::StartRequest request;
    const auto ranks = static_cast<uint32_t>(shape.ranks);
    const auto each = static_cast<uint32_t>(shape.ranks_per_node);
    request.job_id = "simulated";
    request.world_size = ranks;
    launch::AppContext app;
    app.ranks = ranks;
    app.path = "/usr/bin/program";
    app.argv = {"./program"};
    request.apps.push_back(app);
    std::vector<launch::NodeRun> runs;
    for (uint32_t node = 0; node < static_cast<uint32_t>(shape.nodes()); ++node) {
        runs.push_back({node, std::min(each, ranks - node * each)});
        request.tree.hosts.push_back("node" + std::to_string(10000 + node));
    }
    request.map = launch::NodeMap(std::move(runs));
    request.tree.agents = {{"ssh"}};
    request.tree.fanout = launch::LaunchOptions().fanout;
    return request;
}

// The daemon of one node.
class VirtualDaemon {
  public:
    explicit VirtualDaemon(NodeRange range)
        : range_(range)
        , fence_(*this) {}
    // --- as Subtree
    [[nodiscard]] uint32_t children() const { return static_cast<uint32_t>(children_.size()); }
    [[nodiscard]] bool exempt_from_fence(uint32_t /*child*/) const { return false; }

    NodeRange range_;
    std::vector<uint32_t> children_; // nodes
    uint32_t parent_ = UINT32_MAX;   // node; UINT32_MAX: mpiexec
    uint32_t number_ = 0;            // among the children of its parent
    uint32_t depth_ = 1;
    double connected_ = 0;
    double ranks_started_ = 0;
    double in_fence_ = 0; // when the last contribution arrived
    std::unique_ptr<PmiServer> pmi_;
    launch::BasicTreeFence<VirtualDaemon> fence_;
};

class LaunchSimulation {
  public:
    LaunchSimulation(const JobShape& shape, const LaunchCosts& costs, const NetworkModel& model)
        : shape_(shape)
        , costs_(costs)
        , model_(model)
        , request_(make_request(shape)) {}

    LaunchResult run() {
        result_.request_bytes = launch::encode(request_).size();
        const auto nodes = static_cast<uint32_t>(shape_.nodes());
        for (uint32_t node = 0; node < nodes; ++node)
            daemons_.push_back(std::make_unique<VirtualDaemon>(NodeRange{node, node + 1}));
        start_children(UINT32_MAX, {0, nodes}, 0);
        // Children have higher numbers than their parents.
        for (uint32_t node = nodes; node-- > 0;) enter_fence(node);
        if (fence_.has_all_children(*this)) leave_fence(fence_.take());
        return result_;
    }
    // --- of mpiexec, as Subtree
    [[nodiscard]] uint32_t children() const { return static_cast<uint32_t>(top_.size()); }
    [[nodiscard]] bool exempt_from_fence(uint32_t /*child*/) const { return false; }

  private:
    double send_frame(uint64_t bytes) {
        ++result_.frames;
        result_.frame_bytes += bytes;
        return costs_.frame + model_.network.latency + static_cast<double>(bytes) * model_.network.byte;
    }

    void start_children(uint32_t parent, NodeRange nodes, double begin) {
        std::vector<uint32_t>& children = parent == UINT32_MAX ? top_ : daemons_[parent]->children_;
        double clock = begin;
        for (const NodeRange& range : launch::child_ranges(request_.tree, nodes)) {
            VirtualDaemon& child = *daemons_[range.node];
            child.range_ = range;
            child.parent_ = parent;
            child.number_ = static_cast<uint32_t>(children.size());
            child.depth_ = parent == UINT32_MAX ? 1 : daemons_[parent]->depth_ + 1;
            children.push_back(range.node);
            clock += costs_.agent;
            child.connected_ = clock + costs_.connect + send_frame(result_.request_bytes);
            result_.depth = std::max(result_.depth, child.depth_);
        }
        result_.most_children = std::max(result_.most_children, static_cast<uint32_t>(children.size()));
        for (const uint32_t node : std::vector<uint32_t>(children)) {
            VirtualDaemon& child = *daemons_[node];
            if (child.range_.end > node + 1)
                start_children(node, {node + 1, child.range_.end}, child.connected_);
            const auto local = static_cast<double>(request_.map.runs()[node].ranks);
            child.ranks_started_ = child.connected_ + child.children() * costs_.agent + local * costs_.rank;
            result_.ranks_ns = std::max(result_.ranks_ns, child.ranks_started_);
        }
    }

    // All ranks of the node; the daemons below have entered.
    void enter_fence(uint32_t node) {
        VirtualDaemon& d = *daemons_[node];
        d.in_fence_ = std::max(d.in_fence_, d.ranks_started_);
        d.fence_.set_send([this, node](const std::string& pairs) { forward(node, pairs); });
        const uint32_t local = request_.map.runs()[node].ranks;
        std::vector<uint32_t> ranks(local);
        std::iota(ranks.begin(), ranks.end(), node * static_cast<uint32_t>(shape_.ranks_per_node));
        PmiServer::RemoteNodes remote;
        remote.fence = [&d](const std::string& pairs) { d.fence_.enter(pairs); };
        remote.get = [](uint32_t, const std::string&) { return true; };
        remote.reply = [](uint32_t, const std::string&, const std::string*) {};
        d.pmi_ = std::make_unique<PmiServer>(
            PmiServer::PmiJob{"simulated",
                              request_.world_size,
                              0,
                              request_.world_size,
                              std::vector<uint32_t>(local, 0),
                              ranks,
                              {}},
            [this](uint32_t, std::string_view) { ++result_.pmi_replies; },
            [](uint32_t, int, std::string_view) {}, remote);
        for (uint32_t r = 0; r < local; ++r) d.pmi_->feed(r, "cmd=init pmi_version=1 pmi_subversion=1\n");
        for (uint32_t r = 0; r < local; ++r) d.pmi_->feed(r, "cmd=barrier_in\n");
    }

    void forward(uint32_t node, const std::string& pairs) {
        const VirtualDaemon& d = *daemons_[node];
        const double arrival = d.in_fence_ + send_frame(pairs.size());
        if (d.parent_ == UINT32_MAX) {
            in_fence_ = std::max(in_fence_, arrival);
            fence_.add_child(d.number_, pairs);
            return;
        }
        VirtualDaemon& parent = *daemons_[d.parent_];
        parent.in_fence_ = std::max(parent.in_fence_, arrival);
        parent.fence_.add_child(d.number_, pairs);
    }

    void leave_fence(const std::string& pairs) {
        std::vector<double> left(daemons_.size());
        for (uint32_t node = 0; node < daemons_.size(); ++node) { // parents first
            const VirtualDaemon& d = *daemons_[node];
            const double begin = d.parent_ == UINT32_MAX ? in_fence_ : left[d.parent_];
            left[node] = begin + d.number_ * costs_.frame + send_frame(pairs.size());
            d.pmi_->fence_done(pairs);
            result_.fence_ns = std::max(result_.fence_ns, left[node]);
        }
    }

    JobShape shape_;
    LaunchCosts costs_;
    const NetworkModel& model_;
    launch::StartRequest request_;
    std::vector<std::unique_ptr<VirtualDaemon>> daemons_;
    std::vector<uint32_t> top_; // children of mpiexec
    launch::FenceGather fence_; // in mpiexec
    double in_fence_ = 0;
    LaunchResult result_;
};

} // namespace

LaunchResult simulate_launch(const JobShape& shape, const LaunchCosts& costs, const NetworkModel& model) {
    return LaunchSimulation(shape, costs, model).run();
}

} // namespace zipmpi::sim
