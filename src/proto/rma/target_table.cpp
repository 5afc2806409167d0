// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/target_table.hpp"

#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto::rma {

TargetTable::TargetTable(Team& team, uint64_t control, std::span<const Region> regions)
    : team_(team)
    , regions_(regions)
    , own_region_(regions[static_cast<size_t>(team.rank)])
    , local_(team)
    , members_(reinterpret_cast<wire::WindowMember*>(team.engine->shm().segment().coll_memory(control)))
    , holder_{&team.engine->shm().segment(), team.engine->shm().self() + 1}
    , targets_(static_cast<size_t>(team.size))
    , spans_hosts_(local_.count() != static_cast<uint32_t>(team.size)) {}

TargetTable::~TargetTable() {
    for (const std::span<std::byte> m : mappings_) transport::shm::Arena::unmap(m.data(), m.size());
}

bool TargetTable::has_private_memory() const { return std::ranges::any_of(regions_, &Region::is_private); }
bool TargetTable::is_dynamic() const { return std::ranges::any_of(regions_, &Region::is_dynamic); }

wire::WindowGeometry TargetTable::geometry() const {
    return {local_.count(), static_cast<uint32_t>(team_.size)};
}

std::atomic<uint64_t>* TargetTable::posted(int rank) const {
    return reinterpret_cast<std::atomic<uint64_t>*>(control() +
                                                    geometry().posted_offset(local_.number_of(rank)));
}

void TargetTable::use_mapped_block(std::byte* block) {
    regions_mapped_ = true;
    block_ = block;
    own_region_.base += reinterpret_cast<uint64_t>(block);
}

void TargetTable::share_regions() const {
    std::memcpy(control() + geometry().regions_offset(), regions_.data(), regions_.size_bytes());
}

void TargetTable::use_shared_regions() {
    regions_ = {reinterpret_cast<const Region*>(control() + geometry().regions_offset()), regions_.size()};
}

transport::Peer TargetTable::peer_of(int rank) const {
    return static_cast<transport::Peer>(team_.engine->shm().peer_of(team_.map.world(rank)));
}

void TargetTable::wake(int rank) const { team_.engine->shm().wake_if_asleep(peer_of(rank)); }

void TargetTable::resolve_path(int rank, Target& t) {
    const Region& r = regions_[static_cast<size_t>(rank)];
    ProgressEngine& engine = *team_.engine;
    t.size = r.size;
    t.disp_unit = r.disp_unit;
    if (is_remote(rank)) return t.set_path(remote_path_);
    t.peer = peer_of(rank);
    const bool in_file = r.arena_offset != 0;
    t.cpu_atomics = (in_file || regions_mapped_) && cpu_atomics_allowed_;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): address published by its owner
    t.base = regions_mapped_ ? block_ + r.base : reinterpret_cast<std::byte*>(r.base);
    if (rank == team_.rank || r.size == 0 || regions_mapped_) {
        t.set_path(AccessPath::shared);
    } else if (in_file) {
        t.base = engine.arena().map(peer_of(r.owner), r.arena_offset, r.size);
        if (t.base != nullptr)
            mappings_.emplace_back(t.base, r.size);
        else
            t.size = 0; // mapping failed: any access is out of range
        t.set_path(AccessPath::shared);
    } else {
        t.set_path(engine.cma().can_read_and_write(t.peer) ? AccessPath::cma : AccessPath::am);
    }
}

void TargetTable::forbid_cpu_atomics() {
    cpu_atomics_allowed_ = false;
    for (int r = 0; r < team_.size; ++r)
        if (Target& t = peek(r); t.cpu_atomics) t.cpu_atomics = false;
}

} // namespace zipmpi::proto::rma
