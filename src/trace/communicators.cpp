// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Names of communicators, and ranks of their members in MPI_COMM_WORLD.
#include "trace/call.hpp"

#include <cstdlib>
#include <numeric>

namespace zipmpi::trace {
namespace {

constexpr uint32_t world_id = 1, self_id = 2;

bool has_world() noexcept {
    static const auto initialized = find<decltype(&PMPI_Initialized)>("PMPI_Initialized");
    static const auto finalized = find<decltype(&PMPI_Finalized)>("PMPI_Finalized");
    int before = 0;
    int after = 0;
    return initialized(&before) == MPI_SUCCESS && finalized(&after) == MPI_SUCCESS && before != 0 &&
           after == 0;
}

// Ranks of a group in MPI_COMM_WORLD. Returns null without memory.
int32_t* world_ranks_of(MPI_Group group, int size) noexcept {
    static const auto comm_group = find<decltype(&PMPI_Comm_group)>("PMPI_Comm_group");
    static const auto translate = find<decltype(&PMPI_Group_translate_ranks)>("PMPI_Group_translate_ranks");
    static const auto group_free = find<decltype(&PMPI_Group_free)>("PMPI_Group_free");
    const auto n = static_cast<size_t>(size);
    auto* const own = static_cast<int32_t*>(std::malloc(n * sizeof(int32_t)));
    auto* const world = static_cast<int32_t*>(std::malloc(n * sizeof(int32_t)));
    if (own == nullptr || world == nullptr) {
        std::free(own);
        std::free(world);
        return nullptr;
    }
    std::iota(own, own + n, 0);
    std::iota(world, world + n, 0); // without MPI_COMM_WORLD: the ranks themselves
    MPI_Group all;
    if (has_world() && comm_group(predefined().world, &all) == MPI_SUCCESS) {
        translate(group, size, own, all, world);
        group_free(&all);
    }
    std::free(own);
    return world;
}

uint64_t hash_of(const int32_t* ranks, int size) noexcept {
    uint64_t hash = 0xcbf29ce484222325U;
    for (int i = 0; i < size; ++i) hash = (hash ^ static_cast<uint32_t>(ranks[i])) * 0x100000001b3U;
    return hash;
}

void drop_if_equal(CommRecord& record) noexcept {
    for (int32_t i = 0; i < record.size; ++i)
        if (record.world_ranks[i] != i) return;
    std::free(record.world_ranks);
    record.world_ranks = nullptr;
}

using GroupOf = int (*)(MPI_Comm, MPI_Group*);

// The members of one group of a communicator; their hash is added to the given one.
CommRecord members(MPI_Comm comm, GroupOf group_of, uint64_t& hash) noexcept {
    static const auto group_size = find<decltype(&PMPI_Group_size)>("PMPI_Group_size");
    static const auto group_free = find<decltype(&PMPI_Group_free)>("PMPI_Group_free");
    CommRecord record{0, 0, nullptr};
    MPI_Group group;
    if (group_of(comm, &group) != MPI_SUCCESS) return record;
    group_size(group, &record.size);
    record.world_ranks = world_ranks_of(group, record.size);
    group_free(&group);
    if (record.world_ranks == nullptr) record.size = 0;
    hash += hash_of(record.world_ranks, record.size);
    return record;
}

// Without a name; `hash` identifies the members.
CommRecord describe(MPI_Comm comm, uint64_t& hash) noexcept {
    static const auto test_inter = find<decltype(&PMPI_Comm_test_inter)>("PMPI_Comm_test_inter");
    static const auto group = find<decltype(&PMPI_Comm_group)>("PMPI_Comm_group");
    static const auto remote_group = find<decltype(&PMPI_Comm_remote_group)>("PMPI_Comm_remote_group");
    int inter = 0;
    test_inter(comm, &inter);
    CommRecord record = members(comm, group, hash);
    if (inter != 0) { // peers are in the other group; both groups compute the same name
        std::free(record.world_ranks);
        record = members(comm, remote_group, hash);
    }
    if (record.world_ranks != nullptr) drop_if_equal(record);
    return record;
}

bool is_predefined(MPI_Comm comm) noexcept { return comm == predefined().world || comm == predefined().self; }

CommRecord* store(MPI_Comm comm, MPI_Comm with_group_of) noexcept {
    uint64_t hash = 0;
    CommRecord record = describe(with_group_of, hash);
    if (is_predefined(comm))
        record.id = comm == predefined().world ? world_id : self_id;
    else
        record.id = recording.name_comm(hash);
    CommRecord* const added = recording.comms().insert(key_of(comm));
    if (added != nullptr)
        *added = record;
    else
        std::free(record.world_ranks);
    return added;
}

} // namespace

[[gnu::cold]] CommRecord* add_comm_record(MPI_Comm comm) noexcept { return store(comm, comm); }

void remember(MPI_Comm made) noexcept { remember(made, made); }

// A handle that is known already belongs to a query.
void remember(MPI_Comm made, MPI_Comm with_group_of) noexcept {
    if (!recording.is_tracing() || made == predefined().null_comm) return;
    const Recording::Guard guard(recording);
    if (recording.comms().find(key_of(made)) == nullptr) store(made, with_group_of);
}

void forget(MPI_Comm comm) noexcept {
    const Recording::Guard guard(recording);
    CommRecord* const known = recording.comms().find(key_of(comm));
    if (known == nullptr) return;
    std::free(known->world_ranks);
    recording.comms().erase(key_of(comm));
}

} // namespace zipmpi::trace
