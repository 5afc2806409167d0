// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/grid/plan.hpp"

#include "launch/map/by_matrix.hpp"
#include "launch/tree/agent.hpp"

#include "bridge/routes.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace zipmpi::launch {
namespace {

constexpr uint32_t none = UINT32_MAX;

// A host of the grid: an inner one, or one of gateways.
struct Place {
    std::string host;
    std::vector<int> clusters;
    uint32_t agent = 0;
    uint32_t node = none;
    bool used = false; // has ranks
};

class Planner {
  public:
    Planner(const GridFile& file, const GridWishes& wishes, StartRequest& request, Problem& why)
        : file_(file)
        , wishes_(wishes)
        , request_(request)
        , why_(why) {}

    bool plan() {
        if (!collect() || !describe()) return false;
        if (wishes_.graph != nullptr)
            place_ranks_by_talk();
        else
            place_ranks();
        grow();
        tell();
        return true;
    }

  private:
    bool collect();
    bool describe();
    void place_ranks();
    void place_ranks_by_talk();
    [[nodiscard]] std::vector<uint32_t> gateways_between() const;
    void grow();
    void grow_gateway_host(uint32_t place);
    void spread(std::span<const uint32_t> places, uint32_t parent);
    uint32_t number(uint32_t place, uint32_t parent);
    void tell();
    bool agent_number(const std::string& own, uint32_t& number);
    [[nodiscard]] uint32_t gateway_place(const std::string& host) const;
    [[nodiscard]] std::vector<uint32_t> inner_places(size_t cluster) const;

    const GridFile& file_;
    const GridWishes& wishes_;
    StartRequest& request_;
    Problem& why_;
    std::vector<Place> places_;                     // inner hosts cluster by cluster, then hosts of gateways
    std::vector<std::vector<uint32_t>> by_cluster_; // places in the order of ranks
    std::vector<HostList> slots_;                   // the same, with slots; 0: none
    std::vector<uint32_t> gateway_places_;
    size_t inner_ = 0;          // so many places are inner ones
    std::vector<NodeRun> runs_; // of places
    std::vector<std::string> agent_texts_;
    bridge::Grid grid_;
};

bool Planner::agent_number(const std::string& own, uint32_t& number) {
    const std::string& text = own.empty() ? wishes_.agent : own;
    for (number = 0; number < agent_texts_.size(); ++number)
        if (agent_texts_[number] == text) return true;
    std::vector<std::string> words;
    if (!split_words(text, words)) {
        why_ = {"the launch agent is not valid", "description of the grid, or --launch-agent",
                "'" + text + "' is not a command", "write for example: agent = \"ssh -p 2222\""};
        return false;
    }
    agent_texts_.push_back(text);
    request_.tree.agents.push_back(std::move(words));
    return true;
}

uint32_t Planner::gateway_place(const std::string& host) const {
    for (size_t i = inner_; i < places_.size(); ++i)
        if (places_[i].host == host) return static_cast<uint32_t>(i);
    return none;
}

bool Planner::collect() {
    by_cluster_.resize(file_.clusters.size());
    slots_.resize(file_.clusters.size());
    for (size_t c = 0; c < file_.clusters.size(); ++c)
        for (const Host& h : file_.clusters[c].hosts) {
            Place place{h.name, {static_cast<int>(c)}, 0, none, false};
            if (!agent_number(file_.clusters[c].agent, place.agent)) return false;
            by_cluster_[c].push_back(static_cast<uint32_t>(places_.size()));
            slots_[c].push_back(h);
            places_.push_back(std::move(place));
        }
    inner_ = places_.size();
    for (const GridFile::Gateway& g : file_.gateways) {
        uint32_t at = gateway_place(g.host);
        if (at == none) {
            at = static_cast<uint32_t>(places_.size());
            places_.push_back({g.host, {}, 0, none, false});
            if (!agent_number(g.agent, places_[at].agent)) return false;
        }
        for (const auto& a : g.attached)
            if (std::ranges::count(places_[at].clusters, static_cast<int>(a.cluster)) == 0)
                places_[at].clusters.push_back(static_cast<int>(a.cluster));
        gateway_places_.push_back(at);
        if (g.slots == 0 || g.attached.empty()) continue;
        by_cluster_[g.attached[0].cluster].push_back(at);
        slots_[g.attached[0].cluster].push_back({g.host, g.slots});
    }
    return true;
}

// Clusters and gateways for ranks and gateways; every cluster must have a way to every other.
bool Planner::describe() {
    for (const auto& c : file_.clusters) grid_.clusters.push_back({c.name});
    const auto gateway_on = [&](const std::string& host) {
        for (size_t g = 0; g < file_.gateways.size(); ++g)
            if (file_.gateways[g].host == host) return static_cast<int>(g);
        return -1;
    };
    for (const auto& g : file_.gateways) {
        bridge::GatewayPlace& place = grid_.gateways.emplace_back();
        place.number = static_cast<int>(grid_.gateways.size()) - 1;
        place.host = g.host;
        for (const auto& a : g.attached) place.attached.push_back({static_cast<int>(a.cluster), a.devices});
    }
    for (size_t g = 0; g < file_.gateways.size(); ++g)
        for (const auto& l : file_.gateways[g].links) {
            const int other = gateway_on(l.to);
            grid_.gateways[g].links.push_back({other, l.listen, {}, l.untrusted});
            grid_.gateways[static_cast<size_t>(other)].links.push_back(
                {static_cast<int>(g), {}, l.connect, l.untrusted});
        }
    if (const std::string flaw = bridge::flaw_of(grid_); !flaw.empty()) {
        why_ = {"the grid does not fit together", "description of the grid", flaw,
                "docs/guide/bridge.md shows how clusters, gateways and links are written"};
        return false;
    }
    const bridge::Routes routes(grid_);
    for (int c = 1; c < static_cast<int>(grid_.clusters.size()); ++c) {
        const std::array from{0};
        const std::array to{c};
        if (!routes.lanes(from, to).empty()) continue;
        why_ = {"two clusters of the grid are not joined", "description of the grid",
                "no row of gateways leads from cluster " + grid_.clusters[0].name + " to " +
                    grid_.clusters[static_cast<size_t>(c)].name,
                "add a [[gateway]] with both in `clusters`, or one in each and a `link` between them"};
        return false;
    }
    return true;
}

void Planner::place_ranks() {
    uint64_t all = 0;
    for (const HostList& hosts : slots_)
        for (const Host& h : hosts) all += h.slots;
    uint64_t ranks = wishes_.ranks != 0 ? wishes_.ranks : all;
    const auto times = static_cast<uint32_t>((ranks + all - 1) / all);
    for (size_t c = 0; c < slots_.size() && ranks > 0; ++c) {
        HostList hosts = slots_[c];
        uint64_t room = 0;
        for (Host& h : hosts) room += h.slots *= times;
        const auto here = static_cast<uint32_t>(std::min(room, ranks));
        if (here == 0) continue;
        ranks -= here;
        const NodeMap local = map_ranks(hosts, here, wishes_.map_by);
        for (const NodeRun& run : local.runs()) {
            const uint32_t place = by_cluster_[c][run.node];
            places_[place].used = true;
            if (!runs_.empty() && runs_.back().node == place)
                runs_.back().ranks += run.ranks;
            else
                runs_.push_back({place, run.ranks});
        }
    }
}

// How many gateways pass a message on, between each two places.
std::vector<uint32_t> Planner::gateways_between() const {
    const bridge::Routes routes(grid_);
    std::vector<uint32_t> count;
    for (const Place& a : places_)
        for (const Place& b : places_) {
            const bool direct = std::ranges::find_first_of(a.clusters, b.clusters) != a.clusters.end();
            const std::vector<int> lanes = direct ? std::vector<int>{} : routes.lanes(a.clusters, b.clusters);
            count.push_back(lanes.empty() ? 0U
                                          : static_cast<uint32_t>(routes.distance(lanes[0], b.clusters)));
        }
    return count;
}

void Planner::place_ranks_by_talk() {
    std::vector<uint32_t> room(places_.size());
    for (size_t c = 0; c < slots_.size(); ++c)
        for (size_t i = 0; i < slots_[c].size(); ++i) room[by_cluster_[c][i]] += slots_[c][i].slots;
    const uint64_t all = std::accumulate(room.begin(), room.end(), uint64_t{0});
    const auto times = static_cast<uint32_t>((wishes_.graph->size() + all - 1) / all);
    for (uint32_t& r : room) r *= times;
    mapping::Effort effort;
    effort.tools = mapping::graph_tools();
    const auto at =
        mapping::best_assignment(*wishes_.graph, mapping::grid_as_targets(room, gateways_between()), effort);
    for (const uint32_t place : at) places_[place].used = true;
    runs_ = runs_of(at).runs();
}

uint32_t Planner::number(uint32_t place, uint32_t parent) {
    TreePlan& tree = request_.tree;
    places_[place].node = static_cast<uint32_t>(tree.hosts.size());
    tree.hosts.push_back(places_[place].host);
    tree.parents.push_back(parent);
    tree.agent_of.push_back(places_[place].agent);
    return places_[place].node;
}

// At most `width` of them below one process; in the order of a walk through the tree.
void Planner::spread(std::span<const uint32_t> places, uint32_t parent) {
    for (size_t parts = std::min<size_t>(wishes_.width, places.size()); !places.empty(); --parts) {
        const size_t part = (places.size() + parts - 1) / parts;
        spread(places.subspan(1, part - 1), number(places[0], parent));
        places = places.subspan(part);
    }
}

std::vector<uint32_t> Planner::inner_places(size_t cluster) const {
    std::vector<uint32_t> inner;
    for (const uint32_t p : by_cluster_[cluster])
        if (p < inner_ && places_[p].used) inner.push_back(p);
    return inner;
}

// The first gateway host of a cluster starts its inner hosts.
void Planner::grow_gateway_host(uint32_t place) {
    const uint32_t node = number(place, none);
    for (const int c : places_[place].clusters) {
        const auto cluster = static_cast<size_t>(c);
        const auto before =
            std::find_if(places_.begin() + static_cast<long>(inner_), places_.begin() + place,
                         [&](const Place& p) { return std::ranges::count(p.clusters, c) != 0; });
        if (file_.clusters[cluster].direct || before != places_.begin() + place) continue;
        spread(inner_places(cluster), node);
    }
}

void Planner::grow() {
    for (size_t c = 0; c < file_.clusters.size(); ++c)
        if (file_.clusters[c].direct) spread(inner_places(c), none);
    for (auto i = static_cast<uint32_t>(inner_); i < places_.size(); ++i) grow_gateway_host(i);
}

void Planner::tell() {
    std::vector<const Place*> with_ranks;
    for (const Place& p : places_)
        if (p.used) with_ranks.push_back(&p);
    std::ranges::sort(with_ranks, {}, [](const Place* p) { return p->node; });
    for (const Place* p : with_ranks) grid_.nodes.push_back({p->clusters});
    if (!bridge::needs_gateways(grid_)) { // all reach each other
        grid_.gateways.clear();
        gateway_places_.clear();
    }
    for (NodeRun& run : runs_) run.node = places_[run.node].node;
    request_.map = NodeMap(runs_);
    request_.world_size = request_.map.size();
    request_.grid = bridge::print(grid_);
    for (const uint32_t p : gateway_places_) request_.gateway_nodes.push_back(places_[p].node);
}

} // namespace

bool plan_grid(const GridFile& file, const GridWishes& wishes, StartRequest& request, Problem& why) {
    return Planner(file, wishes, request, why).plan();
}

} // namespace zipmpi::launch
