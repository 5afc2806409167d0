// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/planning.hpp"

#include "launch/grid/plan.hpp"
#include "launch/map/by_matrix.hpp"
#include "launch/map/most_ranks.hpp"
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/host_choice.hpp"
#include "launch/mpiexec/plan_env.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/rank_file.hpp"
#include "launch/mpiexec/tools.hpp"
#include "launch/tree/agent.hpp"

#include "os/host.hpp"
#include "wire/segment_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace zipmpi::launch {
namespace {

constexpr int exit_usage = 2;
constexpr const char* command_line = "command line of mpiexec";

// What all jobs on several hosts need.
void prepare_tree(const Options& options, StartRequest& request) {
    request.tree.daemon = daemon_path();
    std::error_code none;
    request.directory = std::filesystem::current_path(none).string();
    request.tree.interface = options.interface;
    request.tree.width = options.width;
    request.tree.job_id = request.job_id;
}

bool fits(const StartRequest& request, Problem& why) {
    for (const uint32_t node : request.map.nodes()) {
        const size_t ranks = request.map.ranks_of(node).size();
        if (ranks <= wire::max_local_ranks) continue;
        why = {
            "too many ranks", request.tree.hosts.empty() ? "this host" : "host " + request.tree.hosts[node],
            std::to_string(ranks) + " ranks; one host takes at most " + std::to_string(wire::max_local_ranks),
            "start fewer, or name more hosts with --host"};
        return false;
    }
    return true;
}

// Nobody has written how many ranks there are: the hosts or a file say it.
bool count_is_open(const Options& options) {
    return options.apps.size() == 1 && !options.apps[0].ranks_given && options.apps[0].soft.empty();
}

bool take_count(uint64_t ranks, StartRequest& request, Problem& why) {
    if (!few_enough(ranks, command_line, why)) return false;
    request.world_size = request.apps[0].ranks = static_cast<uint32_t>(ranks);
    return true;
}

// Who talks to whom, from the file of --map-by comm:FILE. Without -n there are as many ranks as it is of.
bool read_graph(const Options& options, StartRequest& request, mapping::Graph& graph, Problem& why) {
    mapping::Matrix matrix;
    if (!read_matrix_file(options.placement.matrix_file, matrix, why)) return false;
    if (count_is_open(options) && !take_count(matrix.ranks, request, why)) return false;
    if (!fits_job(matrix, options.placement.matrix_file, request.world_size, why)) return false;
    graph = mapping::graph_of(matrix);
    return true;
}

// Hosts that the command line names for all programs.
std::string hosts_of_job(const Options& options) {
    if (!options.host.empty()) return options.host;
    for (const AppOptions& app : options.apps)
        if (!app.host.empty()) return app.host;
    return {};
}

bool apps_have_own_hosts(const Options& options) {
    const std::string first = hosts_of_job(options);
    return std::any_of(options.apps.begin(), options.apps.end(),
                       [&](const AppOptions& app) { return !app.host.empty() && app.host != first; });
}

bool place_on_grid(const Options& options, StartRequest& request, Problem& why) {
    if (!hosts_of_job(options).empty() || !options.hostfile.empty()) {
        why = {"--grid does not go with --host or --hostfile", command_line,
               "the description of the grid names the hosts", "leave out one of the two"};
        return false;
    }
    GridFile file;
    const bool all_slots = count_is_open(options);
    GridWishes wishes{all_slots ? 0 : request.world_size, hosts_by(options.placement), options.width,
                      agent_of(options), nullptr};
    mapping::Graph graph;
    if (!options.placement.matrix_file.empty()) {
        if (!read_graph(options, request, graph, why)) return false;
        wishes.graph = &graph;
    }
    prepare_tree(options, request);
    if (!read_grid_file(options.grid, file, why) || !plan_grid(file, wishes, request, why)) return false;
    if (all_slots && !take_count(request.world_size, request, why)) return false;
    request.talk = talk_within_nodes(graph, request.map);
    return fits(request, why);
}

// Without -n: a rank for each slot, for each line of a rank file, or so many for each host.
bool count_ranks(const Options& options, const HostList& hosts, StartRequest& request, Problem& why) {
    if (!count_is_open(options)) return true;
    const PlacementPolicy& p = request.placement;
    uint64_t ranks = 0;
    if (p.strategy == MapStrategy::rank_file) {
        ranks = p.rank_file.size();
    } else if (p.strategy == MapStrategy::per_unit) {
        if (p.map_unit != Unit::node) {
            why = {"the number of ranks is not known", command_line,
                   "it depends on the hardware of the hosts, which mpiexec does not know yet",
                   "write -n and the number of ranks as well"};
            return false;
        }
        ranks = uint64_t{p.per_unit} * std::max<size_t>(hosts.size(), 1);
    } else if (hosts.empty()) {
        return true;
    } else {
        for (const Host& h : hosts) ranks += h.slots;
    }
    return take_count(ranks, request, why);
}

bool read_rank_file(const Options& options, StartRequest& request, Problem& why) {
    std::string text;
    std::string wrong;
    if (options.rank_file.empty()) {
        why = {"there is no rank file", command_line,
               "--map-by rankfile has no FILE=", "write --rankfile FILE"};
        return false;
    }
    if (!read_whole_file(options.rank_file, "the rank file", text, why)) return false;
    if (parse_rank_file(text, request.placement.rank_file, wrong)) return true;
    why = {"the rank file is not understood", options.rank_file, wrong,
           "write a line for each rank: rank 0=node1 slot=0-3"};
    return false;
}

// The hosts of a rank file, in the order in which they come; "+n1" is the second of those that are named.
bool take_hosts_of_rank_file(HostList& hosts, StartRequest& request, Problem& why) {
    HostList used;
    if (request.placement.rank_file.size() < request.world_size) {
        why = {"the rank file does not name all ranks", command_line,
               std::to_string(request.placement.rank_file.size()) + " lines for " +
                   std::to_string(request.world_size) + " ranks",
               "add lines, or start fewer ranks"};
        return false;
    }
    request.placement.rank_file.resize(request.world_size);
    for (PlacementPolicy::RankPlace& place : request.placement.rank_file) {
        if (place.host.starts_with("+n")) {
            const size_t index = std::strtoul(place.host.c_str() + 2, nullptr, 10);
            if (index >= std::max<size_t>(hosts.size(), 1)) {
                why = {"a host of the rank file does not exist", command_line,
                       place.host + " counts from 0, and " + std::to_string(hosts.size()) +
                           " hosts are named",
                       "name more hosts with --host"};
                return false;
            }
            place.host = hosts.empty() ? "localhost" : hosts[index].name;
        }
        const auto same = [&](const Host& h) { return h.name == place.host; };
        const auto found = std::find_if(used.begin(), used.end(), same);
        if (found == used.end())
            used.push_back({place.host, 1});
        else
            ++found->slots;
    }
    hosts = std::move(used);
    return true;
}

// One rank for each line of the host file.
bool map_lines(const Options& options, const char* const* environ_like, HostList& hosts,
               StartRequest& request, Problem& why) {
    std::vector<std::string> lines;
    const std::string file = host_file_of(options, hosts_of_job(options), environ_like);
    if (file.empty())
        for (const Host& h : hosts) lines.insert(lines.end(), h.slots, h.name);
    else if (!read_host_lines(options, file, lines, why))
        return false;
    if (count_is_open(options) && !take_count(lines.size(), request, why)) return false;
    if (lines.size() < request.world_size) {
        why = {"there are not enough lines for the ranks", file.empty() ? command_line : file,
               std::to_string(lines.size()) + " hosts for " + std::to_string(request.world_size) +
                   " ranks, and --map-by seq takes one for each",
               "add lines, or start fewer ranks"};
        return false;
    }
    std::vector<NodeRun> runs;
    hosts.clear();
    for (uint32_t rank = 0; rank < request.world_size; ++rank) {
        const auto same = [&](const Host& h) { return h.name == lines[rank]; };
        const auto node =
            static_cast<uint32_t>(std::find_if(hosts.begin(), hosts.end(), same) - hosts.begin());
        if (node == hosts.size()) hosts.push_back({lines[rank], 0});
        ++hosts[node].slots;
        if (runs.empty() || runs.back().node != node) runs.push_back({node, 0});
        ++runs.back().ranks;
    }
    request.map = NodeMap(std::move(runs));
    return true;
}

// -ppn: as many as it says on each host, and again while ranks are left.
NodeMap map_rounds(HostList& hosts, uint32_t ranks, uint32_t each) {
    std::vector<NodeRun> runs;
    for (uint32_t rank = 0, node = 0; rank < ranks; rank += each, node = (node + 1) % hosts.size())
        runs.push_back({node, std::min(each, ranks - rank)});
    hosts.resize(std::min(hosts.size(), runs.size()));
    return NodeMap(std::move(runs));
}

// Each program on its own hosts.
bool map_apps(const Options& options, const char* const* environ_like, HostList& hosts, StartRequest& request,
              Problem& why) {
    std::vector<NodeRun> runs;
    const HostList common = std::exchange(hosts, {});
    for (size_t i = 0; i < options.apps.size(); ++i) {
        HostList own;
        NodeMap map;
        const std::string& named = options.apps[i].host;
        if (named.empty())
            own = common;
        else if (!choose_hosts(options, named, environ_like, own, why))
            return false;
        if (!map_ranks(own, request.apps[i].ranks, request.placement, map, why)) return false;
        for (const NodeRun& run : map.runs()) {
            const auto same = [&](const Host& h) { return h.name == own[run.node].name; };
            const auto node =
                static_cast<uint32_t>(std::find_if(hosts.begin(), hosts.end(), same) - hosts.begin());
            if (node == hosts.size()) hosts.push_back({own[run.node].name, 0});
            hosts[node].slots += run.ranks;
            runs.push_back({node, run.ranks});
        }
    }
    request.map = NodeMap(std::move(runs));
    return true;
}

bool enough_slots(const Options& options, const HostList& hosts, const StartRequest& request, Problem& why) {
    if (!options.no_oversubscribe) return true;
    uint64_t slots = hosts.empty() ? static_cast<uint64_t>(os::usable_cpus()) : 0;
    for (const Host& h : hosts) slots += h.slots;
    if (slots >= request.world_size) return true;
    why = {"there are more ranks than slots", command_line,
           std::to_string(request.world_size) + " ranks, " + std::to_string(slots) +
               (hosts.empty() ? " CPUs on this host" : " slots on the hosts") +
               ", and --nooversubscribe was given",
           "start fewer ranks, name more slots with --host, or leave out --nooversubscribe"};
    return false;
}

bool map_on(const Options& options, const char* const* environ_like, HostList& hosts, StartRequest& request,
            Problem& why) {
    mapping::Graph graph;
    const bool by_matrix = !options.placement.matrix_file.empty();
    if (by_matrix && !read_graph(options, request, graph, why)) return false;
    if (request.placement.strategy == MapStrategy::rank_file && !take_hosts_of_rank_file(hosts, request, why))
        return false;
    if (hosts.empty()) hosts.push_back({"localhost", request.world_size});
    if (by_matrix)
        request.map = map_ranks_by(graph, hosts, mapping::graph_tools());
    else if (request.placement.strategy == MapStrategy::sequential) {
        if (!map_lines(options, environ_like, hosts, request, why)) return false;
    } else if (apps_have_own_hosts(options)) {
        if (!map_apps(options, environ_like, hosts, request, why)) return false;
    } else if (options.in_rounds) {
        request.map = map_rounds(hosts, request.world_size, request.placement.per_unit);
    } else if (!map_ranks(hosts, request.world_size, request.placement, request.map, why)) {
        return false;
    }
    request.talk = talk_within_nodes(graph, request.map);
    return true;
}

// Which ranks go to which host.
bool place_ranks(const Options& options, const char* const* environ_like, StartRequest& request,
                 Problem& why) {
    if (!options.grid.empty()) return place_on_grid(options, request, why);
    HostList hosts;
    if (request.placement.strategy == MapStrategy::rank_file && !read_rank_file(options, request, why))
        return false;
    if (!choose_hosts(options, hosts_of_job(options), environ_like, hosts, why) ||
        !count_ranks(options, hosts, request, why) || !enough_slots(options, hosts, request, why) ||
        !map_on(options, environ_like, hosts, request, why))
        return false;
    if (only_this_host(hosts)) return fits(request, why);
    if (options.fork_only) {
        why = {"other hosts cannot be reached", command_line,
               "the launcher fork starts ranks on this host only", "leave out -launcher fork, or the hosts"};
        return false;
    }
    for (const Host& h : hosts) request.tree.hosts.push_back(h.name);
    prepare_tree(options, request);
    request.tree.agents.resize(1);
    if (split_words(agent_of(options), request.tree.agents[0])) return fits(request, why);
    why = {"the value of --launch-agent is not valid", command_line,
           "'" + agent_of(options) + "' is not a command",
           "write for example: --launch-agent \"ssh -p 2222\""};
    return false;
}

// The largest number of ranks that -soft allows, up to -n.
uint32_t soft_ranks(const AppOptions& app) {
    uint32_t best = 0;
    const uint32_t most = app.ranks_given ? app.context.ranks : UINT32_MAX;
    for (const std::string& part : split(app.soft, ',')) {
        const std::vector<std::string> n = split(part, ':');
        const auto at = [&](size_t i) {
            return static_cast<uint32_t>(std::strtoul(n[i].c_str(), nullptr, 10));
        };
        const uint32_t first = n.empty() ? 0 : at(0);
        const uint32_t last = std::min(n.size() > 1 ? at(1) : first, most);
        const uint32_t step = std::max(n.size() > 2 ? at(2) : 1, 1U);
        if (first <= last) best = std::max(best, last - (last - first) % step);
    }
    return best;
}

const char* variable(const char* name) { return std::getenv(name); }

bool plan_app(const Options& options, const AppOptions& app, StartRequest& request, Problem& why, int& code) {
    AppContext context = app.context;
    if (context.directory.empty()) context.directory = options.directory;
    const ProgramPlace from{app.search.empty() ? options.search : app.search, context.directory};
    if (!find_program(context.argv[0], from, context.path, why, code)) return false;
    if (options.pmix == Pmix::automatic && !surely_needs_no_pmix(context.path)) request.pmix = true;
    code = exit_usage;
    if (!app.soft.empty() && (context.ranks = soft_ranks(app)) == 0) {
        why = {"no number of ranks is allowed", command_line,
               "-soft " + app.soft + " has no number from 1 to that of -n", "change -soft or -n"};
        return false;
    }
    if (!add_tools(options.tools, variable, context, why)) return false;
    if (!few_enough(uint64_t{request.world_size} + context.ranks, command_line, why)) return false;
    request.world_size += context.ranks;
    request.apps.push_back(std::move(context));
    return true;
}

} // namespace

std::string agent_of(const Options& options) {
    const Options::AgentChange& own = options.agent_change;
    const Options::AgentChange& inherited = options.inherited_change;
    const std::string& program = own.program.empty() ? inherited.program : own.program;
    std::string text = options.agent;
    if (!program.empty()) text.replace(0, std::min(text.find(' '), text.size()), program);
    return text + inherited.words + own.words;
}

bool plan_job(const Options& options, const char* const* environ_like, StartRequest& request, Problem& why,
              int& exit_code) {
    request.placement = options.placement;
    request.output = options.output;
    request.keep_going = options.keep_going;
    request.pmix = options.pmix == Pmix::yes;
    request.stdin_open = request.flush_prompts = true;
    for (const AppOptions& app : options.apps)
        if (!plan_app(options, app, request, why, exit_code)) return false;
    plan_environment(options, environ_like, request);
    exit_code = exit_usage;
    if (!place_ranks(options, environ_like, request, why)) return false;
    if (request.output.stdin_rank < request.world_size) return true;
    why = {"the rank that reads the standard input does not exist", command_line,
           "--stdin " + std::to_string(request.output.stdin_rank) + ", but there are " +
               std::to_string(request.world_size) + " ranks",
           "write a rank from 0 to " + std::to_string(request.world_size - 1)};
    return false;
}

} // namespace zipmpi::launch
