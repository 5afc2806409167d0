// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: simulate OPERATION RANKS RANKS_PER_NODE [flat] [SEED [NOISE]]
//        simulate OPERATION RANKS RANKS_PER_NODE --cores N [NAME=NS]...
// OPERATION: start, barrier, broadcast:BYTES, allreduce:BYTES, alltoall:BYTES. Prints one line of "name
// value" pairs; cpu_s and peak_mib are what the simulation itself needed. NOISE: share of the latency that is
// added at random. --cores: the ranks of a node share N cores; NAME: call, message, change, wakeup
// (CoreModel).
#include "core_simulation.hpp"
#include "network_simulation.hpp"
#include "virtual_launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/resource.h>

using namespace zipmpi::sim;

namespace {

VirtualJob::Call call_named(const std::string& name, size_t bytes) {
    if (name == "barrier") return make_barrier();
    if (name == "broadcast") return make_broadcast(bytes);
    if (name == "allreduce") return make_allreduce(bytes);
    if (name == "alltoall") return make_alltoall(bytes);
    return {};
}

void print_own_cost() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    std::printf(" cpu_s %.2f peak_mib %.0f\n", seconds(used.ru_utime) + seconds(used.ru_stime),
                static_cast<double>(used.ru_maxrss) / 1024);
}

int simulate_start(const JobShape& shape, const NetworkModel& model) {
    const LaunchResult r = simulate_launch(shape, {}, model);
    std::printf(
        "ranks %d nodes %d ranks_ms %.3f fence_ms %.3f depth %u children %u request_bytes %llu frames "
        "%llu frame_bytes %llu pmi_replies %llu address_ms %.3f address_frames %llu address_frames_mpiexec "
        "%llu "
        "addresses %llu",
        shape.ranks, shape.nodes(), r.ranks_ns / 1e6, r.fence_ns / 1e6, r.depth, r.most_children,
        static_cast<unsigned long long>(r.request_bytes), static_cast<unsigned long long>(r.frames),
        static_cast<unsigned long long>(r.frame_bytes), static_cast<unsigned long long>(r.pmi_replies),
        r.address_ns / 1e6, static_cast<unsigned long long>(r.address_frames),
        static_cast<unsigned long long>(r.address_frames_mpiexec),
        static_cast<unsigned long long>(r.addresses));
    print_own_cost();
    return 0;
}

int simulate_agree(const JobShape& shape, int failed_share, const NetworkModel& model) {
    const AgreementResult r = simulate_agreement(shape, failed_share, {}, model);
    std::printf(
        "ranks %d nodes %d ms %.3f frames_up %llu frames_down %llu received %llu frame_bytes %llu failed %u",
        shape.ranks, shape.nodes(), r.ns / 1e6, static_cast<unsigned long long>(r.frames_up),
        static_cast<unsigned long long>(r.frames_down), static_cast<unsigned long long>(r.received),
        static_cast<unsigned long long>(r.frame_bytes), r.failed);
    print_own_cost();
    return 0;
}

// words: N, then NAME=NS
int simulate_cores(const JobShape& shape, const VirtualJob::Call& call, char** words, int count) {
    CoreModel model;
    model.cores = count > 0 ? std::max(std::atoi(words[0]), 1) : 1;
    const std::pair<const char*, double*> names[] = {{"call=", &model.call},
                                                     {"message=", &model.message},
                                                     {"change=", &model.change},
                                                     {"wakeup=", &model.wakeup}};
    for (int i = 1; i < count; ++i)
        for (const auto& [name, value] : names)
            if (std::strncmp(words[i], name, std::strlen(name)) == 0)
                *value = std::atof(words[i] + std::strlen(name));
    VirtualJob job(shape);
    const NetworkModel network = NetworkModel::from_parameters();
    const CoreResult r = CoreSimulation(model, network, job).run(call);
    std::printf("ranks %d nodes %d cores %d us %.3f changes %.1f unfinished %llu", shape.ranks, shape.nodes(),
                model.cores, r.ns / 1e3, r.changes, static_cast<unsigned long long>(r.unfinished));
    print_own_cost();
    return r.unfinished == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("usage: simulate OPERATION RANKS RANKS_PER_NODE [flat | clusters=C] [SEED [NOISE]]\n",
                   stderr);
        return 2;
    }
    const std::string operation = argv[1];
    const size_t colon = operation.find(':');
    const size_t bytes = colon == std::string::npos ? 0 : std::strtoull(&operation[colon + 1], nullptr, 10);
    JobShape shape{std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 && std::strcmp(argv[4], "flat") == 0};
    constexpr const char* clusters_word = "clusters=";
    const bool has_clusters = argc > 4 && std::string_view(argv[4]).starts_with(clusters_word);
    if (has_clusters) {
        const int clusters = std::max(std::atoi(argv[4] + std::strlen(clusters_word)), 1);
        shape.nodes_per_cluster = (shape.nodes() + clusters - 1) / clusters;
    }
    const int rest = shape.flat || has_clusters ? 5 : 4;
    NetworkModel model = NetworkModel::from_parameters();
    if (argc > rest) model.seed = std::strtoull(argv[rest], nullptr, 10);
    if (argc > rest + 1) model.noise = std::atof(argv[rest + 1]);
    if (operation == "start") return simulate_start(shape, model);
    if (operation.starts_with("agree"))
        return simulate_agree(shape, static_cast<int>(bytes), model); // agree:SHARE
    const VirtualJob::Call call = call_named(operation.substr(0, colon), bytes);
    if (!call) {
        std::fprintf(stderr, "simulate: unknown operation %s\n", argv[1]);
        return 2;
    }
    if (argc > 4 && std::strcmp(argv[4], "--cores") == 0)
        return simulate_cores(shape, call, argv + 5, argc - 5);
    VirtualJob job(shape);
    const SimulationResult r = NetworkSimulation(model, job).run(call);
    std::printf("ranks %d nodes %d us %.3f messages %llu between_nodes %llu intercluster %llu bytes %llu "
                "hierarchy_bytes %llu "
                "schedule_bytes %llu unfinished %llu",
                shape.ranks, shape.nodes(), r.ns / 1e3, static_cast<unsigned long long>(r.messages),
                static_cast<unsigned long long>(r.messages_between_nodes),
                static_cast<unsigned long long>(r.intercluster_messages),
                static_cast<unsigned long long>(r.bytes), static_cast<unsigned long long>(r.memory.hierarchy),
                static_cast<unsigned long long>(r.memory.schedule),
                static_cast<unsigned long long>(r.unfinished));
    print_own_cost();
    return r.unfinished == 0 ? 0 : 1;
}
