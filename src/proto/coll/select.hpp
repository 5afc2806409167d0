// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithm selection: for each collective a table of records in order of preference (select_*.cpp). select()
// is a function of the input only.
#pragma once

#include "proto/coll/selection_input.hpp"

#include <cstddef>
#include <iterator>
#include <utility>

namespace zipmpi::proto::coll {

class Collective;

// The first record that applies is chosen. If it has a cost, the records after it compete: the cheapest one
// is chosen, the first of equal ones.
template <class Args>
struct Algorithm {
    const char* name;
    Resource needs;
    bool (*applies)(const SelectionInput& in);
    double (*cost)(const CollShape& shape, const CostModel& c); // null: no competition
    // Adds the steps, or executes the collective in shared memory. Returns false if the resource it needs is
    // not available after all.
    bool (*build)(Collective& c, Team& t, const SelectionInput& in, const Args& args);
};

template <class Record>
struct Choice {
    const Record* best = nullptr;
    double cost = -1; // computed once another record competes
};

// Considers record i; returns true if the choice is final. The tables are constants, so that the compiler
// resolves all their function pointers.
template <const auto& table, size_t i, class Record>
bool consider(const SelectionInput& in, Choice<Record>& choice) {
    constexpr const Record& record = table[i];
    if (!in.has(record.needs) || !record.applies(in)) return false;
    if (choice.best == nullptr) {
        choice.best = &record;
        return record.cost == nullptr;
    }
    if constexpr (record.cost != nullptr) {
        const CostModel model = cost_model_for(in);
        if (choice.cost < 0) choice.cost = choice.best->cost(in.shape(), model);
        const double cost = record.cost(in.shape(), model);
        if (cost < choice.cost) choice = {&record, cost};
    }
    return false;
}

// Not inlined: the usual choices return early, without the registers that the comparison of costs needs.
template <const auto& table>
[[gnu::noinline]] const auto& select(const SelectionInput& in) {
    using Record = std::remove_cvref_t<decltype(table[0])>;
    Choice<Record> choice;
    [&]<size_t... i>(std::index_sequence<i...>) {
        static_cast<void>((consider<table, i>(in, choice) || ...));
    }
    (std::make_index_sequence<std::size(table)>());
    return *choice.best;
}

// Builds the collective with the algorithm selected without a resource that is not available.
template <const auto& table, class Args>
[[gnu::cold]] [[gnu::noinline]] void build_without(Resource missing, Collective& c, Team& t,
                                                   SelectionInput& in, const Args& args) {
    for (;;) {
        in.remove(missing);
        const auto& algorithm = select<table>(in);
        if (algorithm.build(c, t, in, args)) return;
        missing = algorithm.needs;
    }
}

// Builds the collective with the algorithm selected for the input.
template <const auto& table, class Args>
void build_selected(Collective& c, Team& t, SelectionInput&& in, const Args& args) {
    const auto& algorithm = select<table>(in);
    if (!algorithm.build(c, t, in, args)) [[unlikely]]
        build_without<table>(algorithm.needs, c, t, in, args);
}

// --- for tests and tools
enum class CollFunction : uint8_t {
    barrier,
    broadcast,
    reduce,
    allreduce,
    scan,
    reduce_scatter,
    gather,
    scatter,
    allgather,
    alltoall,
    gatherv,
    scatterv,
    allgatherv,
    alltoallv,
    exchange
};
// Name of the algorithm that a collective uses, provided that the resources of the input are available.
const char* selected_algorithm(CollFunction f, const SelectionInput& in);
// For the collectives of one file (select_*.cpp); null for others.
const char* selected_reduction(CollFunction f, const SelectionInput& in);
const char* selected_movement(CollFunction f, const SelectionInput& in);
const char* selected_block_exchange(CollFunction f, const SelectionInput& in);

} // namespace zipmpi::proto::coll
