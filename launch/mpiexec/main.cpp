// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"
#include "launch/grid/plan.hpp"
#include "launch/link/environment.hpp"
#include "launch/map/by_matrix.hpp"
#include "launch/mpiexec/front.hpp"
#include "launch/mpiexec/host_choice.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/tree/agent.hpp"

#include "wire/segment_layout.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

constexpr int exit_usage = 2;

std::string random_id() {
    uint64_t bits[1] = {};
    if (getrandom(bits, sizeof bits, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bits))
        bits[0] = static_cast<uint64_t>(getpid());
    char text[40];
    std::snprintf(text, sizeof text, "zipmpi-%016llx", static_cast<unsigned long long>(bits[0]));
    return text;
}

// Standard descriptors that are closed would be taken by our own sockets.
void open_standard_descriptors() {
    for (int fd = 0; fd < 3; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(1);
}

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
        why = {"too many ranks",
               request.tree.hosts.empty() ? "this host" : "host " + request.tree.hosts[node],
               std::to_string(ranks) + " ranks; one host takes at most 4096",
               "start fewer, or name more hosts with --host"};
        return false;
    }
    return true;
}

// Who talks to whom, from the file of --map-by comm:FILE. Without -n there are as many ranks as it is of.
bool read_graph(const Options& options, StartRequest& request, mapping::Graph& graph, Problem& why) {
    mapping::Matrix matrix;
    if (!read_matrix_file(options.matrix, matrix, why)) return false;
    if (!options.ranks_given && request.apps.size() == 1)
        request.world_size = request.apps[0].ranks = matrix.ranks;
    if (!fits_job(matrix, options.matrix, request.world_size, why)) return false;
    graph = mapping::graph_of(matrix);
    return true;
}

bool place_on_grid(const Options& options, StartRequest& request, Problem& why) {
    if (!options.host.empty() || !options.hostfile.empty()) {
        why = {"--grid does not go with --host or --hostfile", "command line of mpiexec",
               "the description of the grid names the hosts", "leave out one of the two"};
        return false;
    }
    GridFile file;
    const bool all_slots = !options.ranks_given && request.apps.size() == 1;
    GridWishes wishes{all_slots ? 0 : request.world_size, options.map_by, options.width, options.agent,
                      nullptr};
    mapping::Graph graph;
    if (!options.matrix.empty()) {
        if (!read_graph(options, request, graph, why)) return false;
        wishes.graph = &graph;
    }
    prepare_tree(options, request);
    if (!read_grid_file(options.grid, file, why) || !plan_grid(file, wishes, request, why)) return false;
    if (all_slots) request.apps[0].ranks = request.world_size;
    request.talk = talk_within_nodes(graph, request.map);
    return fits(request, why);
}

// Which ranks go to which host.
bool place_ranks(const Options& options, StartRequest& request, Problem& why) {
    if (!options.grid.empty()) return place_on_grid(options, request, why);
    HostList hosts;
    if (!choose_hosts(options, environ, hosts, why)) return false;
    if (!options.ranks_given && !hosts.empty() && request.apps.size() == 1) {
        uint64_t slots = 0;
        for (const Host& h : hosts) slots += h.slots;
        request.world_size = request.apps[0].ranks = static_cast<uint32_t>(slots);
    }
    mapping::Graph graph;
    if (!options.matrix.empty() && !read_graph(options, request, graph, why)) return false;
    const bool here = hosts.empty();
    if (here) hosts.push_back({"localhost", request.world_size});
    request.map = options.matrix.empty() ? map_ranks(hosts, request.world_size, options.map_by)
                                         : map_ranks_by(graph, hosts, mapping::graph_tools());
    request.talk = talk_within_nodes(graph, request.map);
    if (here || only_this_host(hosts)) return fits(request, why);
    for (const Host& h : hosts) request.tree.hosts.push_back(h.name);
    prepare_tree(options, request);
    request.tree.agents.resize(1);
    if (split_words(options.agent, request.tree.agents[0])) return fits(request, why);
    why = {"the value of --launch-agent is not valid", "command line of mpiexec",
           "'" + options.agent + "' is not a command", "write for example: --launch-agent \"ssh -p 2222\""};
    return false;
}

// What the launcher itself wants to know of jobs over several hosts.
void load_settings(const StartRequest& request) {
    const std::vector<std::string> settings = merge_env(request.base_env, request.apps[0].env);
    std::vector<const char*> list;
    list.reserve(settings.size() + 1);
    for (const std::string& s : settings) list.push_back(s.c_str());
    list.push_back(nullptr);
    load_params(list.data()); // the library knows more knobs, and says so if one is wrong
}

} // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    Options options;
    Problem why;
    if (!parse_options({argv + 1, argv + argc}, environ, options, why)) {
        report(why, "mpiexec");
        return exit_usage;
    }
    if (!options.print.empty()) {
        const bool ok = std::fputs(options.print.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
        return ok ? 0 : 1;
    }
    StartRequest request;
    request.job_id = random_id();
    request.bind = options.bind;
    request.sockets_in_turn = options.sockets_in_turn;
    request.show_placement = options.show_placement;
    request.label = options.label;
    request.keep_going = options.keep_going;
    request.pmix = options.pmix == Pmix::yes;
    request.stdin_open = request.flush_prompts = true;
    request.base_env = without_launchers(environ);
    // Its ranks look for those who have called MPI_Comm_spawn there. Only they do: no job that one of them
    // starts with an mpiexec of its own.
    if (const char* const port = std::getenv("ZIPMPI_SPAWN_PORT"); port != nullptr)
        request.base_env.push_back(std::string("ZIPMPI_PARENT_PORT=") + port);
    if (options.agent != Options().agent) // what this job needs its children need too
        request.base_env.push_back("ZIPMPI_SPAWN_AGENT=" + options.agent);
    for (AppContext& app : options.apps) {
        int code = 1;
        if (!find_program(app.argv[0], app.path, why, code)) {
            report(why, "mpiexec");
            return code;
        }
        if (options.pmix == Pmix::automatic && !surely_needs_no_pmix(app.path)) request.pmix = true;
        request.world_size += app.ranks;
    }
    request.apps = options.apps;
    if (!place_ranks(options, request, why)) {
        report(why, "mpiexec");
        return exit_usage;
    }
    if (!request.tree.hosts.empty()) load_settings(request);
    return Front(std::move(options), std::move(request)).run();
}
