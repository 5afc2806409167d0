// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_path.hpp"

#include "base/param.hpp"
#include "proto/coll/coll.hpp"
#include "proto/rma/am_origin.hpp"

#include <algorithm>
#include <set>

namespace zipmpi::proto::rma {
namespace {

Param<std::string> lock_kind{
    "rma.lock_mode",
    "auto",
    "auto|cpu|network|hybrid",
    Level::tuner,
    Scope::job_wide,
    "window locks on RDMA windows: cpu (at the target), network (RDMA atomics), hybrid (migrates between "
    "the two) or auto (network if no two members share a node, else cpu)"};
Param<int64_t> lock_turns{"rma.hybrid_lock_turns",
                          4,
                          {1, 1 << 20},
                          Unit::none,
                          Level::tuner,
                          Scope::job_wide,
                          "consecutive acquisitions by the other side before a hybrid lock migrates"};
Param<std::string> atomics_kind{
    "rma.atomics",
    "auto",
    "auto|cpu|network",
    Level::tuner,
    Scope::job_wide,
    "where accumulates of 64-bit integers on RDMA windows execute: cpu (at the target), network (RDMA "
    "atomics) or auto (both if the device is coherent with CPU atomics, else cpu)"};

bool copy_key(const std::string& key, uint8_t& bytes, char (&to)[wire::rma_key_bytes]) {
    if (key.size() > sizeof to) return false;
    bytes = static_cast<uint8_t>(key.size());
    std::memcpy(to, key.data(), key.size());
    return true;
}

} // namespace

Window::RdmaPath::~RdmaPath() {
    for (MemberState& s : member_keys) {
        context.device().release_key(s.region);
        context.device().release_key(s.lock);
    }
    context.device().deregister_memory(region);
    context.device().deregister_memory(lock);
}

// Memory of a dynamic window is not registered; it is accessed by active messages.
void Window::RdmaPath::fill_keys(const Region& own, wire::NetworkLock& lock_words, wire::RmaKeys& keys) {
    auto& device = context.device();
    keys.coherent = device.is_coherent() ? 1 : 0;
    keys.region = own.base;
    keys.lock = reinterpret_cast<uint64_t>(&lock_words);
    const bool has_region = own.size != 0 && own.size != dynamic_size;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): local memory
    auto* const base = reinterpret_cast<void*>(own.base);
    const bool registered = (!has_region || device.register_memory(base, own.size, region)) &&
                            device.register_memory(&lock_words, sizeof lock_words, lock) &&
                            copy_key(region.key, keys.region_key_bytes, keys.region_key) &&
                            copy_key(lock.key, keys.lock_key_bytes, keys.lock_key);
    keys.usable = registered ? 1 : 0;
}

bool Window::RdmaPath::import_keys(int rank) {
    MemberState& s = member_keys[static_cast<size_t>(rank)];
    const wire::RmaKeys& keys = published_keys[static_cast<size_t>(rank)];
    if (s.imported) return true;
    if (keys.region_key_bytes > wire::rma_key_bytes || keys.lock_key_bytes > wire::rma_key_bytes)
        return false;
    auto& device = context.device();
    s.imported = (keys.region_key_bytes == 0 ||
                  device.import_key({keys.region_key, keys.region_key_bytes}, s.region)) &&
                 device.import_key({keys.lock_key, keys.lock_key_bytes}, s.lock);
    return s.imported;
}

// The choice is equal on all members.
Window::DeviceLocks Window::choose_locks() const {
    if (lock_kind.get() == "cpu") return RdmaPath::Locks::cpu;
    if (lock_kind.get() == "network") return RdmaPath::Locks::network;
    if (lock_kind.get() == "hybrid") return RdmaPath::Locks::hybrid;
    std::set<int> nodes;
    for (int r = 0; r < team_.size; ++r) nodes.insert(team_.engine->node_of(team_.map.world(r)));
    return nodes.size() == targets_.size() ? RdmaPath::Locks::network : RdmaPath::Locks::cpu;
}

// Either all members use RDMA or none does.
Err Window::use_rdma(RdmaContext& device) {
    auto path = std::make_unique<RdmaPath>(device, targets_.size());
    wire::NetworkLock& own = members_[team_.rank].network_lock;
    path->handover_count = static_cast<uint32_t>(lock_turns.get());
    path->locks = choose_locks();
    if (path->locks == RdmaPath::Locks::hybrid) HybridLockNode(own).init();
    path->fill_keys(regions_[static_cast<size_t>(team_.rank)], own,
                    path->published_keys[static_cast<size_t>(team_.rank)]);
    if (const Err e = coll::allgather(team_, path->published_keys.data(), sizeof(wire::RmaKeys));
        e != Err::success)
        return e;
    const auto& published_keys = path->published_keys;
    if (!std::ranges::all_of(published_keys, [](const wire::RmaKeys& c) { return c.usable != 0; }))
        return Err::success;
    const bool coherent =
        std::ranges::all_of(published_keys, [](const wire::RmaKeys& c) { return c.coherent != 0; });
    path->has_put_get =
        std::ranges::none_of(regions_, [](const Region& r) { return r.size == dynamic_size; });
    if (path->has_put_get && atomics_kind.get() == "network")
        path->atomics = RdmaPath::Atomics::network;
    else if (path->has_put_get && atomics_kind.get() == "auto" && coherent)
        path->atomics = RdmaPath::Atomics::mixed;
    rdma_ = std::move(path);
    if (rdma_->locks == RdmaPath::Locks::hybrid) static_cast<void>(rdma_endpoint(team_.rank));
    for (Target& t : targets_) t.cpu_atomics = t.cpu_atomics && rdma_->atomics != RdmaPath::Atomics::network;
    return Err::success;
}

// The endpoint to a target, connected at the first use; -1 if unreachable.
int Window::rdma_endpoint(int rank) {
    RdmaPath& path = *rdma_;
    const int world = team_.map.world(rank);
    RdmaContext::RdmaConnection& connection = path.context.connection_to(world);
    if (connection.state == RdmaContext::RdmaConnection::State::none && rank == team_.rank) {
        path.context.connect_to_self(connection);
    } else if (connection.state == RdmaContext::RdmaConnection::State::none) {
        const std::string text = path.context.open_connection(connection);
        if (connection.state == RdmaContext::RdmaConnection::State::requested)
            am_->request_connection(rank, text);
    }
    if (connection.state == RdmaContext::RdmaConnection::State::requested)
        await(
            [](const Window& w, int64_t r) {
                const int to = w.team_.map.world(static_cast<int>(r));
                return w.rdma_->context.connection_to(to).state !=
                       RdmaContext::RdmaConnection::State::requested;
            },
            rank, rank);
    return connection.state == RdmaContext::RdmaConnection::State::connected && path.import_keys(rank)
               ? connection.endpoint
               : -1;
}

// Waits for all RDMA operations to this rank, or to all (-1).
void Window::flush_rdma(int rank) {
    if (rdma_ == nullptr) return;
    if (rank < 0) {
        for (int r = 0; r < team_.size; ++r) flush_rdma(r);
        return;
    }
    RdmaContext& device = rdma_->context;
    const RdmaContext::RdmaConnection& connection = device.connection_to(team_.map.world(rank));
    if (connection.state != RdmaContext::RdmaConnection::State::connected) return;
    device.wait_until([&] { return device.is_flushed(connection.endpoint); });
    if (device.failed(connection.endpoint) && failure_ == Err::success)
        failure_ =
            fail(Err::other, "check the network between the hosts, or set the parameter rma.rdma to no",
                 "RDMA operations to rank %d failed", rank);
}

Err Window::no_connection_error(int rank) {
    return fail(Err::other, "set the parameter rma.rdma to no, or check the network between the hosts",
                "no RDMA connection to rank %d", rank);
}

} // namespace zipmpi::proto::rma
