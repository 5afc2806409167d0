// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "virtual_launch.hpp"

#include "launch/mpiexec/options.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/report/agreement_gather.hpp"
#include "launch/report/fault_sequencer.hpp"
#include "launch/tree/child_ranges.hpp"
#include "launch/tree/tree_fence.hpp"

#include <algorithm>
#include <numeric>

namespace zipmpi::sim {
namespace {

using launch::NodeRange;
using launch::PmiServer;

constexpr size_t address_bytes = 64;

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
        const auto nodes = static_cast<uint32_t>(shape_.nodes());
        for (uint32_t node = 0; node < nodes; ++node)
            daemons_.push_back(std::make_unique<VirtualDaemon>(NodeRange{node, node + 1}));
        start_children(UINT32_MAX, {0, nodes}, 0);
        // Children have higher numbers than their parents.
        for (uint32_t node = nodes; node-- > 0;) enter_fence(node);
        if (fence_.has_all_children(*this)) leave_fence(fence_.take());
        fetch_addresses();
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
            const uint64_t request_bytes = launch::encode(request_, range.node, range.end).size();
            result_.request_bytes = std::max(result_.request_bytes, request_bytes);
            child.connected_ = clock + costs_.connect + send_frame(request_bytes);
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
        remote.get = [this, node](uint32_t owner, const std::string& key) {
            const auto to = owner / static_cast<uint32_t>(shape_.ranks_per_node);
            route({launch::RoutedMessage::Kind::get_key, node, to, key, false, {}});
            daemons_[to]->pmi_->on_remote_get(node, key);
            return true;
        };
        remote.reply = [this, node](uint32_t to, const std::string& key, const std::string* value) {
            const std::string text = value != nullptr ? *value : std::string();
            route({launch::RoutedMessage::Kind::key_reply, node, to, key, value != nullptr, text});
            daemons_[to]->pmi_->on_remote_reply(key, value != nullptr, text);
        };
        d.pmi_ = std::make_unique<PmiServer>(
            PmiServer::PmiJob{"simulated",
                              request_.world_size,
                              0,
                              request_.world_size,
                              std::vector<uint32_t>(local, 0),
                              ranks,
                              {}},
            [this](uint32_t, std::string_view reply) { on_reply(reply); },
            [](uint32_t, int, std::string_view) {}, remote);
        for (uint32_t r = 0; r < local; ++r) d.pmi_->feed(r, "cmd=init pmi_version=1 pmi_subversion=1\n");
        for (uint32_t r = 0; r < local; ++r)
            d.pmi_->feed(r, "cmd=put kvsname=simulated key=" + address_key(ranks[r]) +
                                " value=" + std::string(address_bytes, 'a') + "\n");
        for (uint32_t r = 0; r < local; ++r) d.pmi_->feed(r, "cmd=barrier_in\n");
    }

    static std::string address_key(uint32_t rank) { return "zipmpi-" + std::to_string(rank) + "-net"; }

    void on_reply(std::string_view reply) {
        ++result_.pmi_replies;
        if (reply.starts_with("cmd=get_result rc=0")) ++result_.addresses;
    }

    // One frame per connection on the way, as TreeRelay and mpiexec forward them.
    void route(const launch::RoutedMessage& message) {
        const uint64_t bytes = launch::encode(message).size();
        uint32_t node = message.from;
        while (node != message.to) {
            const auto has = [&](uint32_t child) {
                return message.to >= child && message.to < daemons_[child]->range_.end;
            };
            const bool below =
                node == UINT32_MAX || (message.to > node && message.to < daemons_[node]->range_.end);
            const std::vector<uint32_t>& children = node == UINT32_MAX ? top_ : daemons_[node]->children_;
            node = below ? *std::ranges::find_if(children, has) : daemons_[node]->parent_;
            ++result_.address_frames;
            if (node == UINT32_MAX) ++result_.address_frames_mpiexec;
            route_ns_ +=
                costs_.frame + model_.network.latency + static_cast<double>(bytes) * model_.network.byte;
        }
    }

    void fetch_addresses() {
        const auto nodes = static_cast<uint32_t>(daemons_.size());
        for (uint32_t node = 0; node < nodes && nodes > 1; ++node) {
            route_ns_ = 0;
            const uint32_t owner = (node + 1) % nodes * static_cast<uint32_t>(shape_.ranks_per_node);
            daemons_[node]->pmi_->feed(0, "cmd=get kvsname=simulated key=" + address_key(owner) + "\n");
            result_.address_ns = std::max(result_.address_ns, route_ns_);
        }
        // mpiexec forwards one frame at a time
        result_.address_ns =
            std::max(result_.address_ns, static_cast<double>(result_.address_frames_mpiexec) * costs_.frame);
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
    double route_ns_ = 0; // of a request and its reply
    LaunchResult result_;
};

// An agreement, and the failures before it, on their way through the daemons to mpiexec and back.
class AgreementSimulation {
  public:
    AgreementSimulation(const JobShape& shape, const LaunchCosts& costs, const NetworkModel& model)
        : shape_(shape)
        , costs_(costs)
        , model_(model)
        , request_(make_request(shape))
        , daemons_(static_cast<size_t>(shape.nodes()))
        , sequencer_(request_.world_size, [this](const launch::JobEvent& event) { send_down(event); }) {
        add_children(UINT32_MAX, {0, request_.tree.nodes()}, 1);
    }

    AgreementResult run(int failed_share) {
        const auto share = static_cast<uint32_t>(failed_share);
        const auto fails = [&](uint32_t rank) { return share != 0 && rank % share == share - 1; };
        launch::JobEvent event;
        for (uint32_t rank = 0; rank < request_.world_size; ++rank)
            if (fails(rank)) report(event, rank);
        announce_failures();
        event.kind = launch::JobEvent::Kind::agreement;
        event.members = {0, request_.world_size - 1};
        for (uint32_t rank = 0; rank < request_.world_size; ++rank) {
            event.value = rank;
            if (!fails(rank)) report(event, rank);
        }
        return finish();
    }

  private:
    struct Daemon {
        uint32_t parent = UINT32_MAX; // node; UINT32_MAX: mpiexec
        uint32_t depth = 1;
        uint32_t children = 0;
        uint64_t received = 0; // events of its ranks and of its children
        std::unique_ptr<launch::AgreementGather> gather;
    };

    void add_children(uint32_t parent, NodeRange nodes, uint32_t depth) {
        for (const NodeRange& range : launch::child_ranges(request_.tree, nodes)) {
            ++(parent == UINT32_MAX ? children_ : daemons_[parent].children);
            Daemon& d = daemons_[range.node];
            d.parent = parent;
            d.depth = depth;
            d.gather = std::make_unique<launch::AgreementGather>(
                [this, range] { return request_.map.ranks_of_nodes(range.node, range.end); },
                [this, node = range.node](const launch::JobEvent& event) { send_up(node, event); });
            if (range.end > range.node + 1) add_children(range.node, {range.node + 1, range.end}, depth + 1);
        }
    }

    void report(launch::JobEvent event, uint32_t rank) {
        event.ranks.add(rank);
        Daemon& d = daemons_[static_cast<size_t>(shape_.node_of(static_cast<int>(rank)))];
        ++d.received;
        d.gather->process(event);
    }

    void send_up(uint32_t node, const launch::JobEvent& event) {
        const uint64_t bytes = launch::encode(event).size();
        ++result_.frames_up;
        result_.frame_bytes += bytes;
        const uint32_t parent = daemons_[node].parent;
        if (parent != UINT32_MAX) {
            ++daemons_[parent].received;
            return daemons_[parent].gather->process(event);
        }
        ++result_.received;
        sequencer_.process(event);
        unannounced_bytes_ += bytes;
        if (unannounced_bytes_ >= read_at_once) announce_failures();
    }

    void announce_failures() { // mpiexec has read what had arrived
        sequencer_.announce_failures();
        unannounced_bytes_ = 0;
    }

    void send_down(const launch::JobEvent& event) {
        ++events_;
        result_.frames_down += daemons_.size();
        result_.frame_bytes += launch::encode(event).size() * daemons_.size();
        if (event.kind != launch::JobEvent::Kind::agreement) return;
        ++result_.results;
        result_.failed = event.failed;
        result_.value = event.value;
    }

    // A process handles one event at a time: those that it receives, and those to its children. The levels of
    // the tree follow each other, with the busiest process of each.
    AgreementResult finish() {
        std::vector<uint64_t> busiest = {result_.received + events_ * children_};
        for (const Daemon& d : daemons_) {
            if (d.depth >= busiest.size()) busiest.resize(d.depth + 1);
            busiest[d.depth] = std::max(busiest[d.depth], d.received + events_ * d.children);
        }
        for (const uint64_t events : busiest)
            result_.ns += static_cast<double>(events) * costs_.frame + 2 * model_.network.latency;
        return result_;
    }

    static constexpr uint64_t read_at_once = 256U << 10; // of a FrameSocket

    JobShape shape_;
    LaunchCosts costs_;
    const NetworkModel& model_;
    launch::StartRequest request_;
    std::vector<Daemon> daemons_;
    uint32_t children_ = 0; // of mpiexec
    launch::FaultSequencer sequencer_;
    uint64_t events_ = 0; // from mpiexec to all daemons
    uint64_t unannounced_bytes_ = 0;
    AgreementResult result_;
};

} // namespace

AgreementResult simulate_agreement(const JobShape& shape, int failed_share, const LaunchCosts& costs,
                                   const NetworkModel& model) {
    return AgreementSimulation(shape, costs, model).run(failed_share);
}

LaunchResult simulate_launch(const JobShape& shape, const LaunchCosts& costs, const NetworkModel& model) {
    return LaunchSimulation(shape, costs, model).run();
}

} // namespace zipmpi::sim
