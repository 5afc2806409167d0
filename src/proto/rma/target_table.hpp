// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The members of a window as targets: their regions, the access path to each, and their state in the node
// segment.
//
// Threads: under the lock of the progress engine, except peek() and guard_of().
#pragma once

#include "os/lazy_table.hpp"
#include "proto/rma/accumulate_op.hpp"
#include "proto/rma/local_members.hpp"
#include "proto/rma/target.hpp"
#include "proto/team.hpp"
#include "wire/window_layout.hpp"

#include <span>
#include <vector>

namespace zipmpi::proto::rma {

class TargetTable {
  public:
    // control: offset of the zeroed control block in the node segment. regions: of all members, valid until
    // use_shared_regions().
    TargetTable(Team& team, uint64_t control, std::span<const Region> regions);
    ~TargetTable();
    TargetTable(const TargetTable&) = delete;
    TargetTable& operator=(const TargetTable&) = delete;

    [[nodiscard]] Team& team() const { return team_; }
    [[nodiscard]] bool spans_hosts() const { return spans_hosts_; }
    [[nodiscard]] const LocalMembers& local() const { return local_; }
    // On another host: shares no memory with this rank.
    [[nodiscard]] bool is_remote(int rank) const { return spans_hosts_ && !local_.contains(rank); }
    [[nodiscard]] bool has_private_memory() const;
    [[nodiscard]] bool is_dynamic() const;
    // Its base is an address.
    [[nodiscard]] const Region& own_region() const { return own_region_; }

    // State shared by the members on this node.
    [[nodiscard]] wire::WindowMember& member(int rank) const { return members_[local_.number_of(rank)]; }
    [[nodiscard]] wire::WindowMember& own_member() const { return member(team_.rank); }
    // Ranks that have posted to a member on this node, one bit each.
    [[nodiscard]] std::atomic<uint64_t>* posted(int rank) const;
    // Wakes a member on this node that sleeps, after a change of its state.
    void wake(int rank) const;

    // The target without resolving its path.
    [[nodiscard]] Target& peek(int rank) { return targets_[static_cast<size_t>(rank)]; }
    [[nodiscard]] const Target& peek(int rank) const { return targets_[static_cast<size_t>(rank)]; }
    [[nodiscard]] Target& target(int rank) {
        Target& t = peek(rank);
        if (t.path() == AccessPath::unknown) [[unlikely]]
            resolve_path(rank, t);
        return t;
    }
    [[nodiscard]] AccumulateGuard guard_of(int rank) const {
        const Target& t = peek(rank);
        return {t.exclusive ? nullptr : &member(rank).accumulate_lock, &holder_, t.cpu_atomics};
    }
    // For requests that this rank executes on its own memory for other origins.
    [[nodiscard]] AccumulateGuard guard_for_requests() {
        return {&own_member().accumulate_lock, &holder_, target(team_.rank).cpu_atomics};
    }

    // Before any access:
    // The regions of members on this node are in a block that this rank has mapped, each at the offset in its
    // base. Null if all are empty.
    void use_mapped_block(std::byte* block);
    // Continues with the regions in the control block, which one member of the node has filled by
    // share_regions(); then the regions passed to the constructor are no longer used.
    void use_shared_regions();
    void share_regions() const;
    // Remote targets are accessed by RDMA, no longer by active messages.
    void use_rdma() { remote_path_ = AccessPath::rdma; }
    // Accumulates must not use CPU atomics, because the device's atomics are not coherent with them.
    void forbid_cpu_atomics();

  private:
    [[gnu::cold]] void resolve_path(int rank, Target& t);
    [[nodiscard]] transport::Peer peer_of(int rank) const;
    [[nodiscard]] wire::WindowGeometry geometry() const;
    [[nodiscard]] std::byte* control() const { return reinterpret_cast<std::byte*>(members_); }

    Team& team_;
    std::span<const Region> regions_;
    Region own_region_;
    LocalMembers local_;
    wire::WindowMember* members_; // by number on this node
    SpinGuard::Holder holder_;
    os::LazyTable<Target> targets_;              // written for targets that are used
    std::vector<std::span<std::byte>> mappings_; // to release
    bool spans_hosts_ = false;                   // members on several hosts
    bool regions_mapped_ = false;
    std::byte* block_ = nullptr; // of the regions on this node, if mapped
    AccessPath remote_path_ = AccessPath::am;
    bool cpu_atomics_allowed_ = true;
};

} // namespace zipmpi::proto::rma
