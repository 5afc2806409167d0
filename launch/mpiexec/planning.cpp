// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/planning.hpp"

#include "launch/clusters/cluster_plan.hpp"
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/allocation.hpp"
#include "launch/mpiexec/executable.hpp"
#include "launch/mpiexec/host_selection.hpp"
#include "launch/mpiexec/plan_env.hpp"
#include "launch/mpiexec/rank_file.hpp"
#include "launch/mpiexec/tools.hpp"
#include "launch/placement/by_traffic.hpp"
#include "launch/placement/max_ranks.hpp"
#include "launch/tree/daemon_start.hpp"

#include "os/host.hpp"
#include "wire/segment_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace zipmpi::launch {
namespace {

constexpr int exit_usage = 2;
constexpr const char* command_line = "command line of mpiexec";

// The launch agent as one command line. Words for another agent are meant for ssh.
std::string agent_of(const Options& options, const std::string& automatic) {
    const LaunchOptions::AgentOverride& own = options.launch.agent_override;
    const LaunchOptions::AgentOverride& inherited = options.launch.inherited_agent_override;
    const std::string& program = own.program.empty() ? inherited.program : own.program;
    const bool changed = !program.empty() || !inherited.extra_args.empty() || !own.extra_args.empty();
    std::string text = !options.launch.agent.empty() ? options.launch.agent : changed ? ssh_agent : automatic;
    if (!program.empty()) text.replace(0, std::min(text.find(' '), text.size()), program);
    return text + inherited.extra_args + own.extra_args;
}

// Settings common to all multi-host jobs.
void prepare_tree(const Options& options, StartRequest& request) {
    request.tree.local_daemon = daemon_path();
    request.tree.daemon = options.launch.prefix.empty() ? request.tree.local_daemon
                                                        : options.launch.prefix + "/bin/zipmpi-noded";
    std::error_code none;
    request.directory = std::filesystem::current_path(none).string();
    request.tree.interface = options.launch.interface;
    request.tree.fanout = options.launch.fanout;
    request.tree.job_id = request.job_id;
}

bool check_ranks_per_host(const StartRequest& request, Diagnostic& why) {
    for (const uint32_t node : request.map.nodes()) {
        const size_t ranks = request.map.ranks_of(node).size();
        if (ranks <= wire::max_local_ranks) continue;
        why = {
            "too many ranks", request.tree.hosts.empty() ? "this host" : "host " + request.tree.hosts[node],
            std::to_string(ranks) + " ranks; one host takes at most " + std::to_string(wire::max_local_ranks),
            "start fewer ranks, or add hosts with --host"};
        return false;
    }
    return true;
}

// The number of ranks is not given: it follows from the hosts or a file.
bool is_rank_count_open(const Options& options) {
    return options.apps.size() == 1 && !options.apps[0].ranks_given && options.apps[0].soft.empty();
}

bool set_rank_count(uint64_t ranks, StartRequest& request, Diagnostic& why) {
    if (!check_rank_count(ranks, command_line, why)) return false;
    request.world_size = request.apps[0].ranks = static_cast<uint32_t>(ranks);
    return true;
}

// Communication matrix of --map-by comm:FILE. Without -n its size is the number of ranks.
bool read_graph(const Options& options, StartRequest& request, mapping::Graph& graph, Diagnostic& why) {
    mapping::Matrix matrix;
    if (!read_matrix_file(options.placement.matrix_file, matrix, why)) return false;
    if (is_rank_count_open(options) && !set_rank_count(matrix.ranks, request, why)) return false;
    if (!check_matrix_size(matrix, options.placement.matrix_file, request.world_size, why)) return false;
    graph = mapping::graph_of(matrix);
    return true;
}

// Hosts that the command line has for all programs.
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

bool place_on_clusters(const Options& options, StartRequest& request, Diagnostic& why) {
    if (!hosts_of_job(options).empty() || !options.hostfile.empty()) {
        why = {"--clusters cannot be combined with --host or --hostfile", command_line,
               "the cluster file lists the hosts", "remove one of the options"};
        return false;
    }
    ClusterFile file;
    const bool all_slots = is_rank_count_open(options);
    ClusterPlanOptions plan_options{all_slots ? 0 : request.world_size, host_map_by(options.placement),
                                    options.launch.fanout, agent_of(options, ssh_agent), nullptr};
    mapping::Graph graph;
    if (!options.placement.matrix_file.empty()) {
        if (!read_graph(options, request, graph, why)) return false;
        plan_options.graph = &graph;
    }
    prepare_tree(options, request);
    if (!read_cluster_file(options.cluster_file, file, why) ||
        !plan_clusters(file, plan_options, request, why))
        return false;
    if (all_slots && !set_rank_count(request.world_size, request, why)) return false;
    request.traffic = traffic_within_nodes(graph, request.map);
    return check_ranks_per_host(request, why);
}

// Without -n: one rank for each slot, for each line of a rank file, or per_unit ranks for each host.
bool count_ranks(const Options& options, const HostList& hosts, StartRequest& request, Diagnostic& why) {
    if (!is_rank_count_open(options)) return true;
    const PlacementPolicy& p = request.placement;
    uint64_t ranks = 0;
    if (p.strategy == MapStrategy::rank_file) {
        ranks = p.rank_file.size();
    } else if (p.strategy == MapStrategy::per_unit) {
        if (p.map_unit != Unit::node) {
            why = {"the number of ranks is not known", command_line,
                   "it depends on the hardware of the hosts, which is not known before the job starts",
                   "add -n with the number of ranks"};
            return false;
        }
        ranks = uint64_t{p.per_unit} * std::max<size_t>(hosts.size(), 1);
    } else if (hosts.empty()) {
        return true;
    } else {
        for (const Host& h : hosts) ranks += h.slots;
    }
    return set_rank_count(ranks, request, why);
}

bool read_rank_file(const Options& options, StartRequest& request, Diagnostic& why) {
    std::string text;
    std::string wrong;
    if (options.rank_file.empty()) {
        why = {"there is no rank file", command_line,
               "--map-by rankfile has no FILE=", "write --rankfile FILE"};
        return false;
    }
    if (!read_whole_file(options.rank_file, "the rank file", text, why)) return false;
    if (parse_rank_file(text, request.placement.rank_file, wrong)) return true;
    why = {"the rank file is not valid", options.rank_file, wrong,
           "write a line for each rank: rank 0=node1 slot=0-3"};
    return false;
}

// The hosts of a rank file, in order of appearance; "+n1" is the second host of the job.
bool use_rank_file_hosts(HostList& hosts, StartRequest& request, Diagnostic& why) {
    HostList used;
    if (request.placement.rank_file.size() < request.world_size) {
        why = {"the rank file does not have all ranks", command_line,
               std::to_string(request.placement.rank_file.size()) + " lines for " +
                   std::to_string(request.world_size) + " ranks",
               "add lines, or start fewer ranks"};
        return false;
    }
    request.placement.rank_file.resize(request.world_size);
    for (PlacementPolicy::RankFileEntry& entry : request.placement.rank_file) {
        if (entry.host.starts_with("+n")) {
            const size_t index = std::strtoul(entry.host.c_str() + 2, nullptr, 10);
            if (index >= std::max<size_t>(hosts.size(), 1)) {
                why = {"a host of the rank file does not exist", command_line,
                       entry.host + " counts from 0, and there are " + std::to_string(hosts.size()) +
                           " hosts",
                       "add hosts with --host"};
                return false;
            }
            entry.host = hosts.empty() ? "localhost" : hosts[index].name;
        }
        const auto same = [&](const Host& h) { return h.name == entry.host; };
        const auto found = std::find_if(used.begin(), used.end(), same);
        if (found == used.end())
            used.push_back({entry.host, 1});
        else
            ++found->slots;
    }
    hosts = std::move(used);
    return true;
}

// One rank per line of the host file.
bool map_lines(const Options& options, const char* const* environ_like, HostList& hosts,
               StartRequest& request, Diagnostic& why) {
    std::vector<std::string> lines;
    const std::string file = host_file_of(options, hosts_of_job(options), environ_like);
    if (file.empty())
        for (const Host& h : hosts) lines.insert(lines.end(), h.slots, h.name);
    else if (!read_host_lines(options, file, lines, why))
        return false;
    if (is_rank_count_open(options) && !set_rank_count(lines.size(), request, why)) return false;
    if (lines.size() < request.world_size) {
        why = {"the host file has too few lines", file.empty() ? command_line : file,
               std::to_string(lines.size()) + " hosts for " + std::to_string(request.world_size) +
                   " ranks; --map-by seq needs one host per rank",
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

// -ppn: per_unit ranks on each host, repeated until all ranks are placed.
NodeMap map_rounds(HostList& hosts, uint32_t ranks, uint32_t each) {
    std::vector<NodeRun> runs;
    for (uint32_t rank = 0, node = 0; rank < ranks; rank += each, node = (node + 1) % hosts.size())
        runs.push_back({node, std::min(each, ranks - rank)});
    hosts.resize(std::min(hosts.size(), runs.size()));
    return NodeMap(std::move(runs));
}

// Each program on its own hosts.
bool map_apps(const Options& options, const char* const* environ_like, HostList& hosts, StartRequest& request,
              Diagnostic& why) {
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

bool check_slots(const Options& options, const HostList& hosts, const StartRequest& request,
                 Diagnostic& why) {
    if (!options.no_oversubscribe) return true;
    uint64_t slots = hosts.empty() ? static_cast<uint64_t>(os::usable_cpus()) : 0;
    for (const Host& h : hosts) slots += h.slots;
    if (slots >= request.world_size) return true;
    why = {"there are more ranks than slots", command_line,
           std::to_string(request.world_size) + " ranks, " + std::to_string(slots) +
               (hosts.empty() ? " CPUs on this host" : " slots on the hosts") +
               ", and --nooversubscribe was given",
           "start fewer ranks, add slots with --host, or remove --nooversubscribe"};
    return false;
}

bool map_to_hosts(const Options& options, const char* const* environ_like, HostList& hosts,
                  StartRequest& request, Diagnostic& why) {
    mapping::Graph graph;
    const bool by_matrix = !options.placement.matrix_file.empty();
    if (by_matrix && !read_graph(options, request, graph, why)) return false;
    if (request.placement.strategy == MapStrategy::rank_file && !use_rank_file_hosts(hosts, request, why))
        return false;
    if (hosts.empty()) hosts.push_back({"localhost", request.world_size});
    if (by_matrix)
        request.map = map_ranks_by_traffic(graph, hosts, mapping::graph_tools());
    else if (request.placement.strategy == MapStrategy::sequential) {
        if (!map_lines(options, environ_like, hosts, request, why)) return false;
    } else if (apps_have_own_hosts(options)) {
        if (!map_apps(options, environ_like, hosts, request, why)) return false;
    } else if (options.in_rounds) {
        request.map = map_rounds(hosts, request.world_size, request.placement.per_unit);
    } else if (!map_ranks(hosts, request.world_size, request.placement, request.map, why)) {
        return false;
    }
    request.traffic = traffic_within_nodes(graph, request.map);
    return true;
}

// The agent of this job, and of jobs that its ranks start.
bool set_agent(const Options& options, const std::string& automatic, StartRequest& request, Diagnostic& why) {
    const std::string agent = agent_of(options, automatic);
    request.tree.agents.resize(1);
    if (split_words(agent, request.tree.agents[0])) return true;
    why = {"the value of --launch-agent is not valid", command_line, "'" + agent + "' is not a command",
           "write for example: --launch-agent \"ssh -p 2222\""};
    return false;
}

// Assigns ranks to hosts.
bool place_ranks(const Options& options, const char* const* environ_like, StartRequest& request,
                 Diagnostic& why) {
    if (!options.cluster_file.empty()) return place_on_clusters(options, request, why);
    HostList hosts;
    if (request.placement.strategy == MapStrategy::rank_file && !read_rank_file(options, request, why))
        return false;
    if (!choose_hosts(options, hosts_of_job(options), environ_like, hosts, why) ||
        !count_ranks(options, hosts, request, why) || !check_slots(options, hosts, request, why) ||
        !map_to_hosts(options, environ_like, hosts, request, why))
        return false;
    if (!set_agent(options, automatic_agent(hosts, environ_like), request, why)) return false;
    if (is_only_this_host(hosts)) return check_ranks_per_host(request, why);
    if (options.launch.fork_only) {
        why = {"other hosts cannot be reached", command_line,
               "the launcher fork starts ranks on this host only", "remove -launcher fork, or the hosts"};
        return false;
    }
    for (const Host& h : hosts) request.tree.hosts.push_back(h.name);
    prepare_tree(options, request);
    return check_ranks_per_host(request, why);
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

const char* get_variable(const char* name) { return std::getenv(name); }

bool plan_app(const Options& options, const AppOptions& app, StartRequest& request, std::string& program,
              Diagnostic& why, int& code) {
    AppContext context = app.context;
    if (context.directory.empty()) context.directory = options.directory;
    const ProgramSearch from{app.search.empty() ? options.search : app.search, context.directory};
    if (!find_program(context.argv[0], from, context.path, why, code)) return false;
    program = context.path;
    code = exit_usage;
    if (!app.soft.empty() && (context.ranks = soft_ranks(app)) == 0) {
        why = {"no number of ranks is allowed", command_line,
               "-soft " + app.soft + " has no number from 1 to the value of -n", "change -soft or -n"};
        return false;
    }
    if (!add_tools(options.tools, get_variable, context, why)) return false;
    if (!check_rank_count(uint64_t{request.world_size} + context.ranks, command_line, why)) return false;
    request.world_size += context.ranks;
    request.apps.push_back(std::move(context));
    return true;
}

} // namespace

bool plan_job(const Options& options, const char* const* environ_like, StartRequest& request,
              Remarks& remarks, Diagnostic& why, int& exit_code) {
    request.placement = options.placement;
    request.output = options.output;
    request.keep_going = options.keep_going;
    request.pmix = options.other_mpis.pmix == Pmix::yes;
    request.stdin_open = request.flush_prompts = true;
    std::vector<std::string> programs(options.apps.size()); // before tools are added
    for (size_t i = 0; i < options.apps.size(); ++i)
        if (!plan_app(options, options.apps[i], request, programs[i], why, exit_code)) return false;
    plan_environment(options, environ_like, request);
    if (!plan_mpi(options, programs, request, remarks, why, exit_code)) return false;
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
