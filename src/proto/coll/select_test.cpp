// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithm selection without a job: the choice for inputs over ranks, sizes, placements and operators is
// compared with a golden list. A checksum of all choices covers the inputs that the list leaves out.
#include "proto/coll/select.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace zipmpi::proto::coll {
namespace {

struct Function {
    CollFunction id;
    const char* name;
    bool is_reduction;
};
constexpr Function functions[] = {
    {CollFunction::barrier, "barrier", false},
    {CollFunction::broadcast, "broadcast", false},
    {CollFunction::reduce, "reduce", true},
    {CollFunction::allreduce, "allreduce", true},
    {CollFunction::scan, "scan", true},
    {CollFunction::reduce_scatter, "reduce_scatter", true},
    {CollFunction::gather, "gather", false},
    {CollFunction::scatter, "scatter", false},
    {CollFunction::allgather, "allgather", false},
    {CollFunction::alltoall, "alltoall", false},
    {CollFunction::gatherv, "gatherv", false},
    {CollFunction::scatterv, "scatterv", false},
    {CollFunction::allgatherv, "allgatherv", false},
    {CollFunction::alltoallv, "alltoallv", false},
    {CollFunction::exchange, "exchange", false},
};

// A kind of team, for any number of ranks.
struct Placement {
    char letter; // in the golden list
    const char* name;
    TeamPlacement placement;
    Team::TeamScope scope = Team::TeamScope::whole;
    bool coll_buffer = false;
    bool cma = false;
    int per_node = 0; // mixed: consecutive ranks of a node; negative: number of nodes, assigned cyclically
    bool clusters = false;
};
using enum TeamPlacement;
constexpr Placement placements[] = {
    {'C', "node, CMA", single_node, Team::TeamScope::whole, true, true},
    {'B', "node", single_node, Team::TeamScope::whole, true, false},
    {'M', "node, messages", single_node},
    {'N', "one per node", one_per_node},
    {'K', "one per cluster", one_per_node, Team::TeamScope::across_clusters},
    {'n', "nodes of 4", mixed, Team::TeamScope::whole, false, false, 4},
    {'u', "nodes of 3", mixed, Team::TeamScope::whole, false, false, 3},
    {'y', "cyclic nodes", mixed, Team::TeamScope::whole, false, false, -3},
    {'c', "clusters of 4", mixed, Team::TeamScope::whole, false, false, 4, true},
    {'a', "cyclic clusters", mixed, Team::TeamScope::whole, false, false, -3, true},
};

constexpr size_t sizes[] = {1,       8,       56,       57,       512,      1 << 11,   (1 << 11) + 1,
                            1 << 12, 1 << 14, 32 << 10, 48 << 10, 1 << 16,  128 << 10, 256 << 10,
                            1 << 19, 1 << 20, 2 << 20,  4L << 20, 16L << 20};

std::unique_ptr<Hierarchy> hierarchy_for(const Placement& p, int ranks) {
    if (p.placement != mixed) return nullptr;
    std::vector<int> ids;
    for (int r = 0; r < ranks; ++r) ids.push_back(p.per_node > 0 ? r / p.per_node : r % -p.per_node);
    auto h = std::make_unique<Hierarchy>();
    h->placement = mixed;
    h->nodes = NodePartition(ids);
    h->nodes_are_clusters = p.clusters;
    h->node.size = h->nodes.size_of(0);
    return h;
}

SelectionInput make_input(const Placement& p, int ranks, size_t bytes, Hierarchy* hierarchy) {
    SelectionInput in;
    in.ranks = ranks;
    in.size.bytes = bytes;
    in.team.placement = p.placement;
    in.team.scope = p.scope;
    in.team.coll_buffer = p.coll_buffer && ranks > 1;
    in.team.cma = p.cma && ranks > 1;
    in.team.hierarchy = hierarchy;
    return in;
}

// The choices for growing sizes, with the size at which each begins.
std::string choices(const Function& f, const Placement& p, int ranks) {
    const auto hierarchy = hierarchy_for(p, ranks);
    std::string text;
    const char* last = "";
    for (const size_t bytes : sizes) {
        SelectionInput in = make_input(p, ranks, bytes, hierarchy.get());
        in.size.element_bytes = 1;
        in.size.count = static_cast<int64_t>(bytes);
        const char* name = selected_algorithm(f.id, in);
        if (std::strcmp(name, last) == 0) continue;
        if (!text.empty()) text += ", " + std::to_string(bytes) + " ";
        text += last = name;
    }
    return text;
}

struct Golden {
    const char* function;
    const char* placements; // letters
    const char* choices;    // for 8 ranks
};
constexpr Golden golden[] = {
    {"barrier", "CB", "shm"},
    {"barrier", "MN", "dissemination"},
    {"barrier", "K", "intercluster"},
    {"barrier", "nuyca", "hierarchical"},
    {"broadcast", "CB", "shm"},
    {"broadcast", "M", "binomial, 32768 scatter_allgather"},
    {"broadcast", "N", "binomial, 262144 scatter_allgather, 524288 chain"},
    {"broadcast", "K", "intercluster"},
    {"broadcast", "nuyca", "hierarchical"},
    {"reduce", "CB", "shm"},
    {"reduce", "MN", "binomial"},
    {"reduce", "K", "intercluster"},
    {"reduce", "nuyca", "hierarchical"},
    {"allreduce", "CB", "shm"},
    {"allreduce", "M", "doubling, 16384 ring"},
    {"allreduce", "N", "doubling, 49152 rabenseifner"},
    {"allreduce", "K", "intercluster"},
    {"allreduce", "n", "hierarchical, 2048 multi_leader"},
    {"allreduce", "uyca", "hierarchical"},
    {"scan", "CB", "shm, 131072 doubling"},
    {"scan", "MNKya", "doubling"},
    {"scan", "nuc", "hierarchical"},
    {"reduce_scatter", "CB", "shm"},
    {"reduce_scatter", "MNKy", "direct"},
    {"reduce_scatter", "nuca", "hierarchical"},
    {"gather", "CB", "shm"},
    {"gather", "M", "binomial, 2048 linear"},
    {"gather", "Ny", "binomial, 16384 linear"},
    {"gather", "Ka", "linear"},
    {"gather", "n", "hierarchical, 32768 linear"},
    {"gather", "u", "hierarchical, 49152 linear"},
    {"gather", "c", "hierarchical"},
    {"scatter", "CB", "shm"},
    {"scatter", "M", "binomial, 2048 linear"},
    {"scatter", "Ny", "binomial, 16384 linear"},
    {"scatter", "Ka", "linear"},
    {"scatter", "n", "hierarchical, 32768 linear"},
    {"scatter", "u", "hierarchical, 49152 linear"},
    {"scatter", "c", "hierarchical"},
    {"allgather", "CB", "shm"},
    {"allgather", "M", "dissemination, 2048 ring"},
    {"allgather", "Ny", "dissemination, 16384 ring"},
    {"allgather", "K", "intercluster"},
    {"allgather", "nuc", "hierarchical"},
    {"allgather", "a", "hierarchical_blocks"},
    {"alltoall", "C", "shm, 16384 cma"},
    {"alltoall", "B", "shm, 32768 direct"},
    {"alltoall", "Ma", "direct"},
    {"alltoall", "NKy", "bruck, 4096 direct"},
    {"alltoall", "nu", "hierarchical, 2048 bruck, 4096 direct"},
    {"alltoall", "c", "hierarchical, 262144 direct"},
    {"gatherv", "CBMNKnuy", "linear"},
    {"gatherv", "ca", "hierarchical"},
    {"scatterv", "CBMNKnuy", "linear"},
    {"scatterv", "ca", "hierarchical"},
    {"allgatherv", "CBMNy", "ring"},
    {"allgatherv", "K", "intercluster"},
    {"allgatherv", "nuca", "hierarchical"},
    {"alltoallv", "CBMNKnuy", "direct"},
    {"alltoallv", "ca", "hierarchical"},
    {"exchange", "CBMNKnuy", "direct"},
    {"exchange", "ca", "hierarchical"},
};

std::string expected_choices(const char* function, char placement) {
    for (const Golden& g : golden)
        if (std::strcmp(g.function, function) == 0 && std::strchr(g.placements, placement) != nullptr)
            return g.choices;
    return "no line";
}

TEST(Select, GoldenList) {
    for (const Function& f : functions)
        for (const Placement& p : placements)
            EXPECT_EQ(choices(f, p, 8), expected_choices(f.name, p.letter)) << f.name << ", " << p.name;
}

template <class Visit>
void for_each_input(const Function& f, const Visit& visit) {
    for (const Placement& p : placements)
        for (int ranks = p.placement == mixed ? 5 : 1; ranks <= 64; ++ranks) {
            const auto hierarchy = hierarchy_for(p, ranks);
            for (const size_t bytes : sizes)
                for (const size_t element : {size_t{1}, size_t{8}, size_t{4096}, size_t{300 << 10}})
                    for (int options = 0; options < (f.is_reduction ? 8 : 1); ++options) {
                        SelectionInput in = make_input(p, ranks, bytes, hierarchy.get());
                        if (f.is_reduction && bytes % element != 0) continue;
                        if (!f.is_reduction && element != 1) continue;
                        in.size.element_bytes = element;
                        in.size.count = static_cast<int64_t>(bytes / element);
                        in.size.commutative = (options & 1) == 0;
                        in.team.reproducible = (options & 2) != 0;
                        in.scan = (options & 4) == 0 ? ScanKind::inclusive : ScanKind::exclusive;
                        visit(in);
                    }
        }
}

// FNV-1a of the names chosen for all inputs.
uint32_t checksum(const Function& f) {
    uint32_t sum = 2166136261U;
    for_each_input(f, [&](const SelectionInput& in) {
        for (const char* c = selected_algorithm(f.id, in); *c != '\0'; ++c)
            sum = (sum ^ static_cast<uint8_t>(*c)) * 16777619U;
    });
    return sum;
}

struct Checksum {
    const char* function;
    uint32_t sum;
};
constexpr Checksum checksums[] = {
    {"barrier", 4181604401U},    {"broadcast", 4199222057U}, {"reduce", 1179299693U},
    {"allreduce", 2864247861U},  {"scan", 4016797365U},      {"reduce_scatter", 857092709U},
    {"gather", 3086182571U},     {"scatter", 3086182571U},   {"allgather", 1925343767U},
    {"alltoall", 3515051282U},   {"gatherv", 1670351965U},   {"scatterv", 1670351965U},
    {"allgatherv", 3295600405U}, {"alltoallv", 3822437877U}, {"exchange", 3822437877U},
};

TEST(Select, AllChoices) {
    for (size_t i = 0; i < std::size(functions); ++i) {
        EXPECT_STREQ(functions[i].name, checksums[i].function);
        EXPECT_EQ(checksum(functions[i]), checksums[i].sum) << functions[i].name;
    }
}

// Two ranks of a node reduce numbers of 8 bytes.
SelectionInput input_of_pair(size_t bytes) {
    SelectionInput in = make_input(placements[0], 2, bytes, nullptr);
    in.size.element_bytes = 8;
    in.size.count = static_cast<int64_t>(bytes / 8);
    return in;
}

const char* chosen(CollFunction function, size_t bytes) {
    return selected_algorithm(function, input_of_pair(bytes));
}

// Through shared memory, all ranks but the root compute on while it combines, which outweighs a copy of up to
// 256 KiB.
TEST(Select, CmaReducesLongVectorsOnly) {
    EXPECT_STREQ(chosen(CollFunction::reduce, 128 << 10), "shm");
    EXPECT_STREQ(chosen(CollFunction::reduce, 256 << 10), "cma");
    EXPECT_STREQ(chosen(CollFunction::allreduce, 32 << 10), "shm");
    EXPECT_STREQ(chosen(CollFunction::allreduce, 64 << 10), "cma");
}

// Without a resource, the next choice does not need it.
TEST(Select, MissingResource) {
    SelectionInput in = input_of_pair(1 << 20);
    EXPECT_STREQ(selected_algorithm(CollFunction::allreduce, in), "cma");
    in.remove(Resource::cma);
    EXPECT_STREQ(selected_algorithm(CollFunction::allreduce, in), "shm");
    in.remove(Resource::coll_buffer);
    EXPECT_STREQ(selected_algorithm(CollFunction::allreduce, in), "ring");
}

} // namespace
} // namespace zipmpi::proto::coll
