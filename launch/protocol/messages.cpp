// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/protocol/messages.hpp"

#include <algorithm>

namespace zipmpi::launch {

uint32_t StartRequest::app_of(uint32_t rank) const {
    uint32_t a = 0;
    for (uint32_t end = apps[0].ranks; rank >= end && a + 1 < apps.size(); end += apps[a].ranks) ++a;
    return a;
}

namespace {

// Names of the hosts in [first, end), as far as the sender has them.
void encode(PayloadWriter& w, const LaunchTree& t, uint32_t first, uint32_t end) {
    const auto known = static_cast<uint32_t>(t.first_host + t.hosts.size());
    first = std::clamp(first, t.first_host, known);
    const auto begin = t.hosts.begin() + (first - t.first_host);
    w.u32(t.nodes()).u32(first);
    w.texts({begin, begin + (std::clamp(end, first, known) - first)});
    w.u32(static_cast<uint32_t>(t.agents.size()));
    for (const auto& words : t.agents) w.texts(words);
    w.numbers(t.agent_of).numbers(t.parents);
    w.text(t.daemon).text(t.local_daemon).text(t.interface).u32(t.fanout).text(t.job_id);
}

// Pre-order: a node comes after its parent and before nodes outside the parent's subtree.
bool is_preorder(const std::vector<uint32_t>& parents) {
    std::vector<uint32_t> above; // ancestors of the previous node, and that node
    for (uint32_t node = 0; node < parents.size(); ++node) {
        while (!above.empty() && above.back() != parents[node]) above.pop_back();
        if (above.empty() && parents[node] != LaunchTree::no_parent) return false;
        above.push_back(node);
    }
    return true;
}

bool is_consistent(const LaunchTree& t) {
    const size_t nodes = t.nodes();
    if (t.first_host > nodes || t.hosts.size() > nodes - t.first_host) return false;
    for (const auto& words : t.agents)
        if (words.empty()) return false;
    for (const uint32_t a : t.agent_of)
        if (a >= t.agents.size()) return false;
    return (t.agent_of.empty() || t.agent_of.size() == nodes) &&
           (t.parents.empty() || t.parents.size() == nodes) && is_preorder(t.parents) &&
           (nodes == 0 || (!t.agents.empty() && !t.daemon.empty() && t.fanout > 0));
}

bool decode(PayloadReader& r, LaunchTree& t) {
    t.all_nodes = r.u32();
    t.first_host = r.u32();
    t.hosts = r.texts();
    t.agents.resize(r.count(4));
    for (auto& words : t.agents) words = r.texts();
    t.agent_of = r.numbers();
    t.parents = r.numbers();
    t.daemon = r.text();
    t.local_daemon = r.text();
    t.interface = r.text();
    t.fanout = r.u32();
    t.job_id = r.text();
    return r.ok() && is_consistent(t);
}

void encode(PayloadWriter& w, const PlacementPolicy& p) {
    w.u32(static_cast<uint32_t>(p.strategy)).u32(static_cast<uint32_t>(p.map_unit)).u32(p.per_unit);
    w.u32(p.cores_per_rank).u32(static_cast<uint32_t>(p.rank_by)).u32(static_cast<uint32_t>(p.bind_to));
    w.u32(p.overload_allowed ? 1 : 0).text(p.cpu_set).u32(p.report_bindings ? 1 : 0).u32(p.show_map ? 1 : 0);
    w.u32(static_cast<uint32_t>(p.rank_file.size()));
    for (const auto& line : p.rank_file) w.u32(line.rank).text(line.host).text(line.cpus);
}

bool decode(PayloadReader& r, Unit& unit) {
    const uint32_t number = r.u32();
    unit = static_cast<Unit>(number);
    return number <= static_cast<uint32_t>(Unit::node);
}

bool decode(PayloadReader& r, PlacementPolicy& p, uint32_t world_size) {
    const uint32_t strategy = r.u32();
    p.strategy = static_cast<MapStrategy>(strategy);
    if (strategy > static_cast<uint32_t>(MapStrategy::sequential) || !decode(r, p.map_unit)) return false;
    p.per_unit = r.u32();
    p.cores_per_rank = r.u32();
    if (!decode(r, p.rank_by) || !decode(r, p.bind_to)) return false;
    p.overload_allowed = r.u32() != 0;
    p.cpu_set = r.text();
    p.report_bindings = r.u32() != 0;
    p.show_map = r.u32() != 0;
    p.rank_file.resize(r.count(12));
    for (auto& line : p.rank_file) {
        line = {r.u32(), r.text(), r.text()};
        if (line.rank >= world_size) return false;
    }
    return r.ok();
}

void encode(PayloadWriter& w, const OutputPolicy& p) {
    w.u32(static_cast<uint32_t>(p.label)).u32(static_cast<uint32_t>(p.tag)).text(p.tag_pattern);
    w.u32(p.timestamps ? 1 : 0).text(p.out_file).text(p.err_file).u32(p.copy_to_terminal ? 1 : 0);
    w.u32(p.merge_stderr_to_stdout ? 1 : 0).u32(static_cast<uint32_t>(p.stdin_for)).u32(p.stdin_rank);
    w.u32(p.print_exit_codes ? 1 : 0);
}

bool decode(PayloadReader& r, OutputPolicy& p, uint32_t world_size) {
    const uint32_t label = r.u32();
    p.label = static_cast<OutputPolicy::Label>(label);
    const uint32_t tag = r.u32();
    p.tag = static_cast<OutputPolicy::Tag>(tag);
    p.tag_pattern = r.text();
    p.timestamps = r.u32() != 0;
    p.out_file = r.text();
    p.err_file = r.text();
    p.copy_to_terminal = r.u32() != 0;
    p.merge_stderr_to_stdout = r.u32() != 0;
    const uint32_t stdin_for = r.u32();
    p.stdin_for = static_cast<OutputPolicy::Stdin>(stdin_for);
    p.stdin_rank = r.u32();
    p.print_exit_codes = r.u32() != 0;
    return r.ok() && label <= static_cast<uint32_t>(OutputPolicy::Label::fold) &&
           tag <= static_cast<uint32_t>(OutputPolicy::Tag::pattern) &&
           stdin_for <= static_cast<uint32_t>(OutputPolicy::Stdin::none) && p.stdin_rank < world_size;
}

// Runs of equal length on consecutive nodes.
struct RunGroup {
    uint32_t first_node, nodes, ranks_each;
};
constexpr size_t max_runs = size_t{1} << 24; // a few bytes on the network can describe many runs

void encode(PayloadWriter& w, const NodeMap& map) {
    std::vector<RunGroup> groups;
    for (const NodeRun& run : map.runs())
        if (!groups.empty() && groups.back().ranks_each == run.ranks &&
            groups.back().first_node + groups.back().nodes == run.node)
            ++groups.back().nodes;
        else
            groups.push_back({run.node, 1, run.ranks});
    w.u32(static_cast<uint32_t>(groups.size()));
    for (const RunGroup& g : groups) w.u32(g.first_node).u32(g.nodes).u32(g.ranks_each);
}

// Every run has ranks, and together the runs cover the world.
bool decode(PayloadReader& r, NodeMap& map, uint32_t world_size) {
    std::vector<NodeRun> runs;
    uint64_t ranks = 0;
    for (uint32_t left = r.count(12); left > 0; --left) {
        const RunGroup g{r.u32(), r.u32(), r.u32()};
        ranks += uint64_t{g.nodes} * g.ranks_each;
        if (g.ranks_each == 0 || g.nodes == 0 || ranks > world_size || runs.size() + g.nodes > max_runs)
            return false;
        for (uint32_t i = 0; i < g.nodes; ++i) runs.push_back({g.first_node + i, g.ranks_each});
    }
    if (!r.ok() || ranks != world_size) return false;
    map = NodeMap(std::move(runs));
    return true;
}

} // namespace

std::string encode(const StartRequest& r) { return encode(r, 0, r.tree.nodes()); }

std::string encode(const StartRequest& r, uint32_t first_node, uint32_t end_node) {
    PayloadWriter w;
    w.text(r.job_id).text(r.directory).u32(r.world_size);
    encode(w, r.map);
    w.u32(static_cast<uint32_t>(r.apps.size()));
    for (const auto& a : r.apps) w.u32(a.ranks).text(a.path).texts(a.argv).texts(a.env).text(a.directory);
    w.texts(r.base_env);
    encode(w, r.placement);
    encode(w, r.output);
    w.u32(r.pmix ? 1 : 0).u32(r.flush_prompts ? 1 : 0).u32(r.stdin_open ? 1 : 0);
    w.u32(r.keep_going ? 1 : 0);
    w.u32(r.hold ? 1 : 0);
    encode(w, r.tree, r.pmix ? 0 : first_node, r.pmix ? r.tree.nodes() : end_node);
    w.text(r.cluster_map).numbers(r.gateway_nodes).u32(static_cast<uint32_t>(r.traffic.size()));
    for (const auto& t : r.traffic) w.u32(t.a).u32(t.b).u32(t.weight);
    return w.take();
}

bool decode(std::string_view bytes, StartRequest& out) {
    PayloadReader r(bytes);
    out.job_id = r.text();
    out.directory = r.text();
    out.world_size = r.u32();
    if (out.world_size > 0x7fffffff || !decode(r, out.map, out.world_size)) return false;
    out.apps.resize(r.count(20));
    uint64_t ranks = 0;
    for (auto& a : out.apps) {
        a.ranks = r.u32();
        a.path = r.text();
        a.argv = r.texts();
        a.env = r.texts();
        a.directory = r.text();
        ranks += a.ranks;
        if (a.argv.empty() || a.ranks == 0) return false;
    }
    out.base_env = r.texts();
    if (!decode(r, out.placement, out.world_size)) return false;
    if (!decode(r, out.output, out.world_size)) return false;
    out.pmix = r.u32() != 0;
    out.flush_prompts = r.u32() != 0;
    out.stdin_open = r.u32() != 0;
    out.keep_going = r.u32() != 0;
    out.hold = r.u32() != 0;
    if (!decode(r, out.tree)) return false;
    out.cluster_map = r.text();
    out.gateway_nodes = r.numbers();
    for (const uint32_t node : out.gateway_nodes)
        if (node >= out.tree.nodes()) return false;
    out.traffic.resize(r.count(12));
    for (auto& t : out.traffic) t = {r.u32(), r.u32(), r.u32()};
    return r.is_finished() && ranks >= 1 && ranks == out.world_size;
}

bool make_failed_reply(const RoutedMessage& request, RoutedMessage& reply) {
    if (request.kind != RoutedMessage::Kind::get_key && request.kind != RoutedMessage::Kind::get_modex)
        return false;
    const bool key = request.kind == RoutedMessage::Kind::get_key;
    reply = {key ? RoutedMessage::Kind::key_reply : RoutedMessage::Kind::modex_reply,
             request.to,
             request.from,
             request.key,
             false,
             {}};
    return true;
}

std::string encode(const RoutedMessage& m) {
    PayloadWriter w;
    w.u32(static_cast<uint32_t>(m.kind)).u32(m.from).u32(m.to).text(m.key);
    return w.u32(m.found ? 1 : 0).text(m.value).take();
}

bool decode(std::string_view bytes, RoutedMessage& out) {
    PayloadReader r(bytes);
    const uint32_t kind = r.u32();
    out.kind = static_cast<RoutedMessage::Kind>(kind);
    out.from = r.u32();
    out.to = r.u32();
    out.key = r.text();
    out.found = r.u32() != 0;
    out.value = r.text();
    return r.is_finished() && kind >= 1 && kind <= 4;
}

std::string encode(const Failure& f) {
    PayloadWriter w;
    return w.u32(f.rank).u32(f.exit_code).u32(f.by_signal ? 1 : 0).text(f.text).take();
}

bool decode(std::string_view bytes, Failure& out) {
    PayloadReader r(bytes);
    out.rank = r.u32();
    out.exit_code = r.u32();
    out.by_signal = r.u32() != 0;
    out.text = r.text();
    return r.is_finished();
}

std::string encode(const JobEvent& e) {
    PayloadWriter w;
    w.u32(static_cast<uint32_t>(e.kind)).numbers(e.ranks.bounds()).numbers(e.members.bounds());
    w.u32(e.rank).u32(e.context).u32(e.number).u32(e.flags).u32(e.value);
    return w.u32(e.failed).u32(e.exit_code).u32(e.by_signal ? 1 : 0).text(e.text).take();
}

bool decode(std::string_view bytes, JobEvent& out) {
    PayloadReader r(bytes);
    const uint32_t kind = r.u32();
    out.kind = static_cast<JobEvent::Kind>(kind);
    if (!RankRanges::from_bounds(r.numbers(), out.ranks) ||
        !RankRanges::from_bounds(r.numbers(), out.members))
        return false;
    out.rank = r.u32();
    out.context = r.u32();
    out.number = r.u32();
    out.flags = r.u32();
    out.value = r.u32();
    out.failed = r.u32();
    out.exit_code = r.u32();
    out.by_signal = r.u32() != 0;
    out.text = r.text();
    return r.is_finished() && kind >= 1 && kind <= 4;
}

std::string encode(const Snapshot& s) {
    PayloadWriter w;
    w.u32(static_cast<uint32_t>(s.size()));
    for (const RankSnapshot& p : s) {
        w.i32(p.rank).u32(static_cast<uint32_t>(p.phase)).text(p.exit_reason).u32(p.asleep ? 1 : 0);
        w.text(p.function).i32(p.peer).i32(p.tag).text(p.comm);
        w.u64(p.call_count).u32(p.progress).u32(p.wait_count);
        w.u32(static_cast<uint32_t>(p.waits.size()));
        for (const PendingOp& q : p.waits)
            w.u32(static_cast<uint32_t>(q.kind))
                .i32(q.world_peer)
                .i32(q.tag)
                .text(q.comm)
                .u32(q.sequence)
                .u64(q.bytes);
        w.i32(p.near_miss.world_source).i32(p.near_miss.tag).text(p.near_miss.comm);
    }
    return w.take();
}

bool decode(std::string_view bytes, Snapshot& out) {
    PayloadReader r(bytes);
    out.resize(r.count(48));
    for (RankSnapshot& p : out) {
        p.rank = r.i32();
        p.phase = static_cast<RankPhase>(r.u32());
        p.exit_reason = r.text();
        p.asleep = r.u32() != 0;
        p.function = r.text();
        p.peer = r.i32();
        p.tag = r.i32();
        p.comm = r.text();
        p.call_count = r.u64();
        p.progress = r.u32();
        p.wait_count = r.u32();
        p.waits.resize(r.count(28));
        for (PendingOp& q : p.waits) {
            q.kind = static_cast<WaitKind>(r.u32());
            q.world_peer = r.i32();
            q.tag = r.i32();
            q.comm = r.text();
            q.sequence = r.u32();
            q.bytes = r.u64();
        }
        p.near_miss = {r.i32(), r.i32(), r.text()};
    }
    return r.is_finished();
}

std::string encode(const HostView& view) {
    PayloadWriter w;
    w.text(view.host).text(encode(view.ranks));
    for (const CounterTotals& t : view.totals) {
        w.u64(t.messages).u64(t.bytes).u64(t.sends).u64(t.unexpected);
        for (const uint64_t n : t.paths) w.u64(n);
    }
    return w.take();
}

bool decode(std::string_view bytes, HostView& out) {
    PayloadReader r(bytes);
    out.host = r.text();
    if (!decode(r.text(), out.ranks)) return false;
    out.totals.resize(out.ranks.size());
    for (CounterTotals& t : out.totals) {
        t.messages = r.u64();
        t.bytes = r.u64();
        t.sends = r.u64();
        t.unexpected = r.u64();
        for (uint64_t& n : t.paths) n = r.u64();
    }
    return r.is_finished();
}

std::string encode(const HostStacks& stacks) {
    const auto numbers = [](const std::vector<int>& r) { return std::vector<uint32_t>(r.begin(), r.end()); };
    PayloadWriter w;
    w.text(stacks.host).text(stacks.tool).text(stacks.reason).numbers(numbers(stacks.unread));
    w.u32(static_cast<uint32_t>(stacks.groups.size()));
    for (const StackGroup& g : stacks.groups)
        w.texts(g.frames).numbers(numbers(g.ranks)).u32(g.main_thread ? 1 : 0);
    return w.take();
}

bool decode(std::string_view bytes, HostStacks& out) {
    const auto ranks = [](const std::vector<uint32_t>& n) { return std::vector<int>(n.begin(), n.end()); };
    PayloadReader r(bytes);
    out.host = r.text();
    out.tool = r.text();
    out.reason = r.text();
    out.unread = ranks(r.numbers());
    out.groups.resize(r.count(12));
    for (StackGroup& g : out.groups) {
        g.frames = r.texts();
        g.ranks = ranks(r.numbers());
        g.main_thread = r.u32() != 0;
    }
    return r.is_finished();
}

} // namespace zipmpi::launch
