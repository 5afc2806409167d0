// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/clusters/cluster_plan.hpp"

#include "launch/placement/by_traffic.hpp"
#include "launch/tree/agent.hpp"

#include "bridge/routes.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace zipmpi::launch {
namespace {

constexpr uint32_t none = UINT32_MAX;

// A host of a multi-cluster job: an inner host or a gateway host.
struct NodeSlot {
    std::string host;
    std::vector<int> clusters;
    uint32_t agent = 0;
    uint32_t node = none;
    bool used = false; // has ranks
};

class Planner {
  public:
    Planner(const ClusterFile& file, const ClusterPlanOptions& options, StartRequest& request,
            Diagnostic& why)
        : file_(file)
        , options_(options)
        , request_(request)
        , why_(why) {}

    bool plan() {
        if (!collect_hosts() || !build_cluster_map()) return false;
        share_ranks_by_speed();
        if (options_.graph != nullptr)
            place_ranks_by_traffic();
        else
            place_ranks();
        build_tree();
        fill_request();
        return true;
    }

  private:
    bool collect_hosts();
    bool build_cluster_map();
    void share_ranks_by_speed();
    void place_ranks();
    void place_ranks_by_traffic();
    [[nodiscard]] std::vector<uint32_t> count_gateways_between() const;
    void build_tree();
    void add_gateway_host(uint32_t slot);
    void add_subtree(std::span<const uint32_t> slots, uint32_t parent);
    uint32_t number_node(uint32_t slot, uint32_t parent);
    void fill_request();
    bool find_agent(const std::string& agent, uint32_t& number);
    [[nodiscard]] uint32_t find_gateway_slot(const std::string& host) const;
    [[nodiscard]] std::vector<uint32_t> inner_slots(size_t cluster) const;

    const ClusterFile& file_;
    const ClusterPlanOptions& options_;
    StartRequest& request_;
    Diagnostic& why_;
    std::vector<NodeSlot> node_slots_;              // inner hosts cluster by cluster, then gateway hosts
    std::vector<std::vector<uint32_t>> by_cluster_; // indices of node_slots_ in the order of ranks
    std::vector<HostList> slots_;                   // by cluster, in that order; 0 slots: none
    std::vector<uint32_t> gateway_slots_;
    size_t inner_count_ = 0;    // number of inner hosts in node_slots_
    std::vector<NodeRun> runs_; // of node_slots_
    std::vector<std::string> agent_texts_;
    bridge::ClusterMap cluster_map_;
};

bool Planner::find_agent(const std::string& agent, uint32_t& number) {
    const std::string& text = agent.empty() ? options_.agent : agent;
    for (number = 0; number < agent_texts_.size(); ++number)
        if (agent_texts_[number] == text) return true;
    std::vector<std::string> words;
    if (!split_words(text, words)) {
        why_ = {"the launch agent is not valid", "cluster file, or --launch-agent",
                "'" + text + "' is not a command", "write for example: agent = \"ssh -p 2222\""};
        return false;
    }
    agent_texts_.push_back(text);
    request_.tree.agents.push_back(std::move(words));
    return true;
}

uint32_t Planner::find_gateway_slot(const std::string& host) const {
    for (size_t i = inner_count_; i < node_slots_.size(); ++i)
        if (node_slots_[i].host == host) return static_cast<uint32_t>(i);
    return none;
}

bool Planner::collect_hosts() {
    by_cluster_.resize(file_.clusters.size());
    slots_.resize(file_.clusters.size());
    for (size_t c = 0; c < file_.clusters.size(); ++c)
        for (const Host& h : file_.clusters[c].hosts) {
            NodeSlot slot{h.name, {static_cast<int>(c)}, 0, none, false};
            if (!find_agent(file_.clusters[c].agent, slot.agent)) return false;
            by_cluster_[c].push_back(static_cast<uint32_t>(node_slots_.size()));
            slots_[c].push_back(h);
            node_slots_.push_back(std::move(slot));
        }
    inner_count_ = node_slots_.size();
    for (const ClusterFile::GatewayEntry& g : file_.gateways) {
        uint32_t at = find_gateway_slot(g.host);
        if (at == none) {
            at = static_cast<uint32_t>(node_slots_.size());
            node_slots_.push_back({g.host, {}, 0, none, false});
            if (!find_agent(g.agent, node_slots_[at].agent)) return false;
        }
        for (const auto& a : g.attached)
            if (std::ranges::count(node_slots_[at].clusters, static_cast<int>(a.cluster)) == 0)
                node_slots_[at].clusters.push_back(static_cast<int>(a.cluster));
        gateway_slots_.push_back(at);
        if (g.slots == 0 || g.attached.empty()) continue;
        by_cluster_[g.attached[0].cluster].push_back(at);
        slots_[g.attached[0].cluster].push_back({g.host, g.slots, g.speed});
    }
    return true;
}

// Builds the cluster map; every cluster must have a path to every other.
bool Planner::build_cluster_map() {
    for (const auto& c : file_.clusters) cluster_map_.clusters.push_back({c.name});
    const auto find_gateway = [&](const std::string& host) {
        for (size_t g = 0; g < file_.gateways.size(); ++g)
            if (file_.gateways[g].host == host) return static_cast<int>(g);
        return -1;
    };
    for (const auto& g : file_.gateways) {
        bridge::GatewaySpec& spec = cluster_map_.gateways.emplace_back();
        spec.number = static_cast<int>(cluster_map_.gateways.size()) - 1;
        spec.host = g.host;
        for (const auto& a : g.attached) spec.attached.push_back({static_cast<int>(a.cluster), a.devices});
    }
    for (size_t g = 0; g < file_.gateways.size(); ++g)
        for (const auto& l : file_.gateways[g].links) {
            const int other = find_gateway(l.to);
            cluster_map_.gateways[g].links.push_back({other, l.listen, {}, l.untrusted});
            cluster_map_.gateways[static_cast<size_t>(other)].links.push_back(
                {static_cast<int>(g), {}, l.connect, l.untrusted});
        }
    if (const std::string flaw = bridge::validate(cluster_map_); !flaw.empty()) {
        why_ = {"the cluster file is inconsistent", "cluster file", flaw,
                "docs/guide/multi_cluster.md describes clusters, gateways and links"};
        return false;
    }
    const bridge::RoutingTable routes(cluster_map_);
    for (int c = 1; c < static_cast<int>(cluster_map_.clusters.size()); ++c) {
        const std::array from{0};
        const std::array to{c};
        if (!routes.nearest_gateways(from, to).empty()) continue;
        why_ = {"two clusters are not connected", "cluster file",
                "no path over gateways leads from cluster " + cluster_map_.clusters[0].name + " to " +
                    cluster_map_.clusters[static_cast<size_t>(c)].name,
                "add a [[gateway]] with both in `clusters`, or one in each and a `link` between them"};
        return false;
    }
    return true;
}

// Over all clusters; hosts without a share are left out.
void Planner::share_ranks_by_speed() {
    HostList all;
    for (const HostList& hosts : slots_) all.insert(all.end(), hosts.begin(), hosts.end());
    const uint32_t ranks = options_.graph != nullptr ? options_.graph->size() : options_.ranks;
    share_by_speed(all, ranks);
    size_t next = 0;
    for (size_t c = 0; c < slots_.size(); ++c) {
        HostList hosts;
        std::vector<uint32_t> indices;
        for (size_t i = 0; i < slots_[c].size(); ++i, ++next)
            if (all[next].slots > 0) {
                hosts.push_back({all[next].name, all[next].slots});
                indices.push_back(by_cluster_[c][i]);
            }
        slots_[c] = std::move(hosts);
        by_cluster_[c] = std::move(indices);
    }
}

void Planner::place_ranks() {
    uint64_t all = 0;
    for (const HostList& hosts : slots_)
        for (const Host& h : hosts) all += h.slots;
    uint64_t ranks = options_.ranks != 0 ? options_.ranks : all;
    const auto times = static_cast<uint32_t>((ranks + all - 1) / all);
    for (size_t c = 0; c < slots_.size() && ranks > 0; ++c) {
        HostList hosts = slots_[c];
        uint64_t capacity = 0;
        for (Host& h : hosts) capacity += h.slots *= times;
        const auto here = static_cast<uint32_t>(std::min(capacity, ranks));
        if (here == 0) continue;
        ranks -= here;
        const NodeMap local = map_ranks(hosts, here, options_.map_by);
        for (const NodeRun& run : local.runs()) {
            const uint32_t slot = by_cluster_[c][run.node];
            node_slots_[slot].used = true;
            if (!runs_.empty() && runs_.back().node == slot)
                runs_.back().ranks += run.ranks;
            else
                runs_.push_back({slot, run.ranks});
        }
    }
}

// Number of gateways on the path between each two hosts.
std::vector<uint32_t> Planner::count_gateways_between() const {
    const bridge::RoutingTable routes(cluster_map_);
    std::vector<uint32_t> count;
    for (const NodeSlot& a : node_slots_)
        for (const NodeSlot& b : node_slots_) {
            const bool direct = std::ranges::find_first_of(a.clusters, b.clusters) != a.clusters.end();
            const std::vector<int> paths =
                direct ? std::vector<int>{} : routes.nearest_gateways(a.clusters, b.clusters);
            count.push_back(paths.empty() ? 0U
                                          : static_cast<uint32_t>(routes.distance(paths[0], b.clusters)));
        }
    return count;
}

void Planner::place_ranks_by_traffic() {
    std::vector<uint32_t> capacity(node_slots_.size());
    for (size_t c = 0; c < slots_.size(); ++c)
        for (size_t i = 0; i < slots_[c].size(); ++i) capacity[by_cluster_[c][i]] += slots_[c][i].slots;
    const uint64_t all = std::accumulate(capacity.begin(), capacity.end(), uint64_t{0});
    const auto times = static_cast<uint32_t>((options_.graph->size() + all - 1) / all);
    for (uint32_t& r : capacity) r *= times;
    mapping::Effort effort;
    effort.tools = mapping::graph_tools();
    const auto at = mapping::assign_ranks(
        *options_.graph, mapping::clusters_as_targets(capacity, count_gateways_between()), effort);
    for (const uint32_t slot : at) node_slots_[slot].used = true;
    runs_ = make_node_map(at).runs();
}

uint32_t Planner::number_node(uint32_t slot, uint32_t parent) {
    LaunchTree& tree = request_.tree;
    node_slots_[slot].node = static_cast<uint32_t>(tree.hosts.size());
    tree.hosts.push_back(node_slots_[slot].host);
    tree.parents.push_back(parent);
    tree.agent_of.push_back(node_slots_[slot].agent);
    return node_slots_[slot].node;
}

// At most `fanout` children per process; in pre-order of the tree.
void Planner::add_subtree(std::span<const uint32_t> slots, uint32_t parent) {
    for (size_t groups = std::min<size_t>(options_.fanout, slots.size()); !slots.empty(); --groups) {
        const size_t group_size = (slots.size() + groups - 1) / groups;
        add_subtree(slots.subspan(1, group_size - 1), number_node(slots[0], parent));
        slots = slots.subspan(group_size);
    }
}

std::vector<uint32_t> Planner::inner_slots(size_t cluster) const {
    std::vector<uint32_t> inner;
    for (const uint32_t p : by_cluster_[cluster])
        if (p < inner_count_ && node_slots_[p].used) inner.push_back(p);
    return inner;
}

// The first gateway host of a cluster starts its inner hosts.
void Planner::add_gateway_host(uint32_t slot) {
    const uint32_t node = number_node(slot, none);
    for (const int c : node_slots_[slot].clusters) {
        const auto cluster = static_cast<size_t>(c);
        const auto before =
            std::find_if(node_slots_.begin() + static_cast<long>(inner_count_), node_slots_.begin() + slot,
                         [&](const NodeSlot& p) { return std::ranges::count(p.clusters, c) != 0; });
        if (file_.clusters[cluster].direct || before != node_slots_.begin() + slot) continue;
        add_subtree(inner_slots(cluster), node);
    }
}

void Planner::build_tree() {
    for (size_t c = 0; c < file_.clusters.size(); ++c)
        if (file_.clusters[c].direct) add_subtree(inner_slots(c), none);
    for (auto i = static_cast<uint32_t>(inner_count_); i < node_slots_.size(); ++i) add_gateway_host(i);
}

void Planner::fill_request() {
    std::vector<const NodeSlot*> with_ranks;
    for (const NodeSlot& p : node_slots_)
        if (p.used) with_ranks.push_back(&p);
    std::ranges::sort(with_ranks, {}, [](const NodeSlot* p) { return p->node; });
    for (const NodeSlot* p : with_ranks) cluster_map_.nodes.push_back({p->clusters});
    if (!bridge::needs_gateways(cluster_map_)) { // all clusters reach each other directly
        cluster_map_.gateways.clear();
        gateway_slots_.clear();
    }
    for (NodeRun& run : runs_) run.node = node_slots_[run.node].node;
    request_.map = NodeMap(runs_);
    request_.world_size = request_.map.size();
    request_.cluster_map = bridge::print(cluster_map_);
    for (const uint32_t p : gateway_slots_) request_.gateway_nodes.push_back(node_slots_[p].node);
}

} // namespace

bool plan_clusters(const ClusterFile& file, const ClusterPlanOptions& options, StartRequest& request,
                   Diagnostic& why) {
    return Planner(file, options, request, why).plan();
}

} // namespace zipmpi::launch
