// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithms of collectives with blocks of different sizes. They depend on the team only, since no rank has
// the sizes of all blocks.
#include "proto/coll/algorithms.hpp"
#include "proto/coll/hierarchical/hierarchical.hpp"
#include "proto/coll/select.hpp"

namespace zipmpi::proto::coll {
namespace {

using enum Resource;

struct GathervArgs {
    Block input;
    Blocks all;
    int root;
};
struct ScattervArgs {
    Blocks all;
    Block output;
    int root;
};
struct AllgathervArgs {
    Blocks all;
};
struct AlltoallvArgs {
    Blocks send;
    Blocks recv;
};
struct ExchangeArgs {
    ExchangeItems out;
    ExchangeItems in;
};

constexpr Algorithm<GathervArgs> gatherv_table[] = {
    {"hierarchical", messages, spans_clusters, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const GathervArgs& a) {
         hierarchical::gatherv(c, t, *in.team.hierarchy, a.input, a.all, a.root);
         return true;
     }},
    {"linear", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const GathervArgs& a) {
         gather_linear::gather(c.schedule(), t, a.input, a.all, a.root);
         return true;
     }},
};

constexpr Algorithm<ScattervArgs> scatterv_table[] = {
    {"hierarchical", messages, spans_clusters, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ScattervArgs& a) {
         hierarchical::scatterv(c, t, *in.team.hierarchy, a.all, a.output, a.root);
         return true;
     }},
    {"linear", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ScattervArgs& a) {
         gather_linear::scatter(c.schedule(), t, a.all, a.output, a.root);
         return true;
     }},
};

constexpr Algorithm<AllgathervArgs> allgatherv_table[] = {
    {"intercluster", messages, is_intercluster, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const AllgathervArgs& a) {
         intercluster::allgatherv(c.schedule(), t, a.all);
         return true;
     }},
    {"hierarchical", messages,
     [](const SelectionInput& in) { return spans_clusters(in) || is_ordered_hierarchy(in); }, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AllgathervArgs& a) {
         hierarchical::allgatherv(c, t, *in.team.hierarchy, a.all);
         return true;
     }},
    {"ring", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const AllgathervArgs& a) {
         allgather_ring::build(c.schedule(), t, a.all);
         return true;
     }},
};

constexpr Algorithm<AlltoallvArgs> alltoallv_table[] = {
    {"hierarchical", messages, spans_clusters, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const AlltoallvArgs& a) {
         hierarchical::alltoallv(c, t, *in.team.hierarchy, a.send, a.recv);
         return true;
     }},
    {"direct", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const AlltoallvArgs& a) {
         alltoall_direct::build(c.schedule(), t, a.send, a.recv);
         return true;
     }},
};

constexpr Algorithm<ExchangeArgs> exchange_table[] = {
    {"hierarchical", messages, spans_clusters, nullptr,
     [](Collective& c, Team& t, const SelectionInput& in, const ExchangeArgs& a) {
         hierarchical::exchange(c, t, *in.team.hierarchy, a.out, a.in);
         return true;
     }},
    {"direct", messages, always, nullptr,
     [](Collective& c, Team& t, const SelectionInput&, const ExchangeArgs& a) {
         Schedule& s = c.schedule();
         for (const ExchangeItem& i : a.in) s.recv(t, i.block.data, i.block.bytes, i.peer);
         for (const ExchangeItem& i : a.out) s.send(t, i.block.data, i.block.bytes, i.peer);
         return true;
     }},
};

} // namespace

void gatherv(Collective& c, Team& t, Block input, Blocks all, int root) {
    build_selected<gatherv_table>(c, t, input_of(c, t, CallSize(0)), GathervArgs{input, all, root});
}

void scatterv(Collective& c, Team& t, Blocks all, Block output, int root) {
    build_selected<scatterv_table>(c, t, input_of(c, t, CallSize(0)), ScattervArgs{all, output, root});
}

void allgatherv(Collective& c, Team& t, Blocks all) {
    build_selected<allgatherv_table>(c, t, input_of(c, t, CallSize(0)), AllgathervArgs{all});
}

void alltoallv(Collective& c, Team& t, Blocks send, Blocks recv) {
    build_selected<alltoallv_table>(c, t, input_of(c, t, CallSize(0)), AlltoallvArgs{send, recv});
}

void exchange(Collective& c, Team& t, ExchangeItems out, ExchangeItems in) {
    build_selected<exchange_table>(c, t, input_of(c, t, CallSize(0)), ExchangeArgs{out, in});
}

const char* selected_block_exchange(CollFunction f, const SelectionInput& in) {
    switch (f) {
    case CollFunction::gatherv:
        return select<gatherv_table>(in).name;
    case CollFunction::scatterv:
        return select<scatterv_table>(in).name;
    case CollFunction::allgatherv:
        return select<allgatherv_table>(in).name;
    case CollFunction::alltoallv:
        return select<alltoallv_table>(in).name;
    case CollFunction::exchange:
        return select<exchange_table>(in).name;
    default:
        return nullptr;
    }
}

} // namespace zipmpi::proto::coll
