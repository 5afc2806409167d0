// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/shm/peer_memory.hpp"

#include "base/param.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

namespace zipmpi::proto::coll::shm {
namespace {

Param<int64_t> direct_min{"coll.cma_min",
                          32 * KiB,
                          {1, INT64_MAX},
                          Unit::bytes,
                          Level::tuner,
                          Scope::job_wide,
                          "smallest block that collectives read by CMA"};

// Logical AND of `yes` over all members.
bool all_agree(CollBuffer& buffer, const CollSignature& call, bool yes) {
    const uint32_t op = buffer.begin(Leave::together, call);
    *buffer.slot(op, buffer.self()) = std::byte{yes};
    buffer.sync(op);
    for (int r = 0; r < buffer.members(); ++r) yes = yes && *buffer.slot(op, r) == std::byte{1};
    return yes;
}

// Every rank reads a test value from every other one; in a team of two each also writes one to the other.
void probe_peer_access(CollBuffer& buffer, ProgressEngine& engine, const CollSignature& call,
                       TeamCollBuffers& found) {
    const auto own_value = static_cast<uint64_t>(buffer.self()) + 1;
    uint64_t written = 0;
    PeerMemory peer_memory(buffer, engine, call);
    peer_memory.publish(&own_value, &written);
    bool good = true;
    for (int r = 0; r < buffer.members(); ++r) {
        uint64_t peer_value = 0;
        if (r == buffer.self()) continue;
        peer_memory.read(r, 0, reinterpret_cast<std::byte*>(&peer_value), sizeof peer_value);
        good = good && peer_value == static_cast<uint64_t>(r) + 1;
    }
    const bool pair = buffer.members() == 2;
    if (pair && good)
        peer_memory.write(1 - buffer.self(), 0, reinterpret_cast<const std::byte*>(&own_value),
                          sizeof own_value);
    good = all_agree(buffer, call, good);
    found.peer_access = good ? TeamCollBuffers::allowed : TeamCollBuffers::denied;
    const uint64_t peer_value = std::atomic_ref(written).load(std::memory_order_acquire);
    found.can_write =
        pair && good && all_agree(buffer, call, peer_value == static_cast<uint64_t>(2 - buffer.self()));
}

} // namespace

void PeerMemory::store_addresses(const void* address, const void* written) {
    const Addresses published{reinterpret_cast<uint64_t>(address), reinterpret_cast<uint64_t>(written)};
    std::memcpy(buffer_.slot(op_, buffer_.self()), &published, sizeof published);
}

PeerMemory::Addresses PeerMemory::addresses_of(int member) const {
    Addresses published{};
    std::memcpy(&published, buffer_.slot(op_, member), sizeof published);
    return published;
}

void PeerMemory::publish(const void* address, void* written) {
    op_ = buffer_.begin(Leave::together, signature_);
    store_addresses(address, written);
    buffer_.sync(op_);
}

void PeerMemory::publish_to(int member, const void* address) {
    op_ = buffer_.begin(Leave::early, signature_);
    store_addresses(address, nullptr);
    buffer_.self() == member ? buffer_.arrive_and_wait(op_) : buffer_.arrive_and_leave(op_);
}

void PeerMemory::finish_for(int member) {
    // Peers that detected a fault have not waited for this rank, so the data read from them may be invalid.
    if (buffer_.self() == member) buffer_.faults().check();
    const uint32_t op = buffer_.begin(Leave::early, signature_);
    buffer_.self() == member ? buffer_.set_flag(op) : buffer_.wait_flag(op, member);
}

void PeerMemory::read(int member, size_t offset, std::byte* to, size_t bytes) {
    if (buffer_.faults().has_failed()) return;
    const uint64_t from = addresses_of(member).read + offset;
    if (bytes != 0 && !engine_.cma().read(buffer_.peer(member), from, to, bytes)) record_failure();
}

void PeerMemory::record_failure() {
    if (errno == ESRCH) buffer_.faults().mark_failed();
    failed_ = true;
}

void PeerMemory::write(int member, size_t offset, const std::byte* from, size_t bytes) {
    if (buffer_.faults().has_failed()) return; // the address may be stale
    const uint64_t to = addresses_of(member).written + offset;
    if (bytes != 0 && !engine_.cma().write(buffer_.peer(member), to, from, bytes)) record_failure();
}

size_t min_cma_bytes() { return static_cast<size_t>(direct_min.get()); }

CollBuffer* coll_buffer_for_cma(Collective& c, Team& t) {
    CollBuffer* buffer = coll_buffer_for(c, t, 2 * sizeof(uint64_t));
    if (buffer == nullptr) return nullptr;
    TeamCollBuffers& b = *t.coll_buffers.get();
    if (b.peer_access == TeamCollBuffers::unknown)
        probe_peer_access(*buffer, *t.engine, {c.sequence(), CollKind::agreement, 0}, b);
    return b.peer_access == TeamCollBuffers::allowed ? buffer : nullptr;
}

Err cma_denied_error() {
    return fail(Err::other, "set ZIPMPI_CMA_ENABLE=no",
                "CMA access to the memory of another rank failed after earlier success");
}

} // namespace zipmpi::proto::coll::shm
