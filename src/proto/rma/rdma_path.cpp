// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_path.hpp"

#include "proto/rma/am_path.hpp"
#include "proto/rma/iov_chunk.hpp"
#include "proto/rma/pending_operations.hpp"

namespace zipmpi::proto::rma {

using Access = RdmaConnections::Access;

namespace {

constexpr uint64_t rdma_staged_bytes = uint64_t{256} << 10;
constexpr uint64_t max_copied_bytes = 1024;
constexpr uint64_t max_held_bytes = uint64_t{4} << 20;
constexpr uint64_t word_bytes = sizeof(uint64_t);
// Mixed atomics: above this number one active message is cheaper than RDMA atomics per element.
constexpr uint64_t max_rdma_elements = 8;

uint64_t address_value(const std::byte* at) { return reinterpret_cast<uint64_t>(at); }

} // namespace

RdmaPath::RdmaPath(const TargetTable& targets, RdmaConnections& connections, AmPath& am,
                   PendingOperations& pending, DeferredError& failure, RdmaModes::Atomics atomics,
                   WindowPolicy::AccumulateOrder order)
    : targets_(targets)
    , connections_(connections)
    , am_(am)
    , pending_(pending)
    , failure_(failure)
    , atomics_(atomics)
    , accumulate_order_(order)
    , last_paths_(static_cast<size_t>(targets.team().size)) {}

// Converts an address of Target::address_of() to the target's address space.
transport::RemoteAddress RdmaPath::remote(int rank, const std::byte* address) const {
    const Target& t = targets_.peek(rank);
    const uint64_t offset = t.path() == AccessPath::rdma ? address_value(address)
                                                         : address_value(address) - address_value(t.base);
    return connections_.keys().memory(rank, offset);
}

// Creates a FetchOp for a request-based operation, which completes with the earlier operations.
Err RdmaPath::add_completion(int endpoint, FetchFactory& factory) {
    if (!factory.immediate()) return Err::success;
    FetchOp* const fetch = factory.make();
    if (fetch == nullptr) return no_memory_error();
    RdmaContext::CompletionAction& a = connections_.context().on_flushed(endpoint);
    a.immediate = true;
    a.fetch = fetch;
    return Err::success;
}

// Staging buffer for a range of the fetched bytes; stored to the result on completion.
std::byte* RdmaPath::stage_result(int endpoint, FetchOp& fetch, uint64_t from, uint64_t bytes,
                                  const FetchFactory& factory) {
    RdmaContext::CompletionAction& a = connections_.context().on_flushed(endpoint, bytes);
    a.immediate = factory.immediate();
    a.fetch = &fetch;
    a.fetched_to = from;
    ++fetch.pending;
    return a.memory.data();
}

void RdmaPath::limit_held_memory(int rank) {
    if (connections_.context().held_bytes() > max_held_bytes) connections_.flush(rank);
}

Err RdmaPath::put(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) return am_.put(rank, here, there);
    RdmaContext& context = connections_.context();
    const bool whole = here.layout == nullptr && here.bytes > max_copied_bytes;
    const ChunkLimits limits{whole ? UINT64_MAX : rdma_staged_bytes, 1, IovChunk::max_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        const std::byte* from = here.base + chunk.from;
        if (!whole) {
            limit_held_memory(rank);
            RdmaContext::CompletionAction& a = context.on_flushed(endpoint, chunk.bytes);
            load(here, chunk.from, a.memory.data(), chunk.bytes);
            from = a.memory.data();
        }
        connections_.mark_access(rank, endpoint, Access::put);
        for (size_t i = 0; i < chunk.count; from += chunk.iov[i++].iov_len)
            context.device().put(endpoint, from, chunk.iov[i].iov_len, remote(rank, chunk.segment(i)));
    }
    return add_completion(endpoint, factory);
}

Err RdmaPath::get(int rank, const TypedBuffer& here, const TypedBuffer& there, FetchFactory& factory) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) return am_.get(rank, here, there, factory);
    RdmaContext& context = connections_.context();
    const bool whole = here.layout == nullptr;
    FetchOp* const fetch = whole ? nullptr : factory.make();
    if (!whole && fetch == nullptr) return no_memory_error();
    if (fetch != nullptr) fetch->result = here;
    const ChunkLimits limits{whole ? UINT64_MAX : rdma_staged_bytes, 1, IovChunk::max_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        std::byte* to = here.base + chunk.from;
        if (fetch != nullptr) {
            limit_held_memory(rank);
            to = stage_result(endpoint, *fetch, chunk.from, chunk.bytes, factory);
        }
        connections_.mark_access(rank, endpoint, Access::get);
        for (size_t i = 0; i < chunk.count; to += chunk.iov[i++].iov_len)
            context.device().get(endpoint, to, chunk.iov[i].iov_len, remote(rank, chunk.segment(i)));
    }
    if (fetch == nullptr) return add_completion(endpoint, factory);
    fetch->complete_part();
    return Err::success;
}

bool RdmaPath::is_aligned(int rank, const TypedBuffer& there) const {
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {UINT64_MAX, 1, IovChunk::max_segments});
        for (size_t i = 0; i < chunk.count; ++i)
            if (remote(rank, chunk.segment(i)).address % word_bytes != 0 ||
                chunk.iov[i].iov_len % word_bytes != 0)
                return false;
    }
    return true;
}

bool RdmaPath::can_accumulate(int rank, const AccumulateOp& c, const TypedBuffer& there) const {
    if (atomics_ == RdmaModes::Atomics::cpu) return false;
    if (!c.cpu_atomic || c.element_bytes != word_bytes || c.layout != nullptr) return false;
    if (atomics_ == RdmaModes::Atomics::mixed &&
        (!targets_.is_remote(rank) || there.bytes > max_rdma_elements * word_bytes))
        return false;
    return is_aligned(rank, there);
}

bool RdmaPath::can_swap(int rank, const CompareSwapOp& s, const std::byte* there) const {
    if (atomics_ == RdmaModes::Atomics::cpu) return false;
    if (atomics_ == RdmaModes::Atomics::mixed && !targets_.is_remote(rank)) return false;
    return s.cpu_atomic && s.bytes == word_bytes && remote(rank, there).address % word_bytes == 0;
}

void RdmaPath::order_accumulates(int rank, AccumulatePath path) {
    if (accumulate_order_ == WindowPolicy::AccumulateOrder::none) return;
    AccumulatePath& last = last_paths_[static_cast<size_t>(rank)];
    if (last != AccumulatePath::none && last != path) pending_.flush(rank);
    last = path;
}

// Any operation on one word, by a compare-and-swap loop.
uint64_t RdmaPath::update_word(int rank, int endpoint, const AccumulateOp& c, uint64_t in,
                               const transport::RemoteAddress& word) {
    const auto finish = [&] {
        connections_.context().mark_busy(endpoint); // complete on return
        connections_.flush(rank);
        return !device().failed(endpoint);
    };
    uint64_t found = 0;
    device().fetch_add(endpoint, 0, &found, word);
    for (bool good = finish(); good; good = finish()) {
        const uint64_t expected = found;
        uint64_t changed = expected;
        if (c.kind == AccumulateOp::Kind::replace)
            changed = in;
        else
            c.apply(&in, &changed, 1);
        device().compare_swap(endpoint, expected, changed, &found, word);
        if (!finish() || found == expected) return expected;
    }
    return found;
}

// Word by word; complete on return.
void RdmaPath::update(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                      const TypedBuffer& result, const TypedBuffer& there) {
    std::vector<uint64_t> in(rdma_staged_bytes / word_bytes);
    std::vector<uint64_t> fetched(in.size());
    connections_.flush(rank);
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {rdma_staged_bytes, word_bytes, IovChunk::max_segments});
        load(here, chunk.from, reinterpret_cast<std::byte*>(in.data()), chunk.bytes);
        size_t at = 0;
        for (size_t i = 0; i < chunk.count; ++i) {
            const transport::RemoteAddress first = remote(rank, chunk.segment(i));
            for (uint64_t k = 0; k < chunk.iov[i].iov_len; k += word_bytes, ++at)
                fetched[at] = update_word(rank, endpoint, c, in[at], {first.address + k, first.key});
        }
        if (result.bytes != 0)
            store(result, chunk.from, reinterpret_cast<const std::byte*>(fetched.data()), chunk.bytes);
    }
}

// One RDMA fetch-and-add per element, in order; results arrive later.
Err RdmaPath::fetch_add(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                        const TypedBuffer& result, const TypedBuffer& there, FetchFactory& factory) {
    const bool fetches = result.bytes != 0;
    FetchOp* const fetch = fetches ? factory.make() : nullptr;
    if (fetches && fetch == nullptr) return no_memory_error();
    if (fetches) fetch->result = result;
    std::vector<uint64_t> in(std::min(rdma_staged_bytes, there.bytes) / word_bytes);
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {rdma_staged_bytes, word_bytes, IovChunk::max_segments});
        if (c.writes()) load(here, chunk.from, reinterpret_cast<std::byte*>(in.data()), chunk.bytes);
        uint64_t* fetched = nullptr;
        if (fetches)
            fetched =
                reinterpret_cast<uint64_t*>(stage_result(endpoint, *fetch, chunk.from, chunk.bytes, factory));
        size_t at = 0;
        connections_.mark_access(rank, endpoint, fetches ? Access::get : Access::put);
        for (size_t i = 0; i < chunk.count; ++i) {
            const transport::RemoteAddress first = remote(rank, chunk.segment(i));
            for (uint64_t k = 0; k < chunk.iov[i].iov_len; k += word_bytes, ++at)
                device().fetch_add(endpoint, c.writes() ? in[at] : 0, fetches ? fetched + at : &discard_word_,
                                   {first.address + k, first.key});
        }
    }
    if (fetches) fetch->complete_part();
    return fetches ? Err::success : add_completion(endpoint, factory);
}

Err RdmaPath::accumulate(int rank, const AccumulateOp& c, const TypedBuffer& here, const TypedBuffer& result,
                         const TypedBuffer& there, FetchFactory& factory) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) return connections_.unreachable_error(rank);
    order_accumulates(rank, AccumulatePath::rdma);
    if (c.writes() && !c.is_sum) {
        update(rank, endpoint, c, here, result, there);
        return failure_.take();
    }
    const Err e = fetch_add(rank, endpoint, c, here, result, there, factory);
    // operations within the node are complete on return
    if (!targets_.is_remote(rank)) connections_.flush(rank);
    return e;
}

Err RdmaPath::compare_and_swap(int rank, const void* compare, const void* value, void* fetched,
                               std::byte* there, FetchFactory& factory) {
    const int endpoint = connections_.endpoint(rank);
    if (endpoint < 0) return connections_.unreachable_error(rank);
    order_accumulates(rank, AccumulatePath::rdma);
    FetchOp* const fetch = factory.make();
    if (fetch == nullptr) return no_memory_error();
    fetch->result = {static_cast<std::byte*>(fetched), nullptr, 0, word_bytes};
    std::byte* const found = stage_result(endpoint, *fetch, 0, word_bytes, factory);
    uint64_t expected = 0;
    uint64_t wanted = 0;
    std::memcpy(&expected, compare, word_bytes);
    std::memcpy(&wanted, value, word_bytes);
    connections_.mark_access(rank, endpoint, Access::get);
    device().compare_swap(endpoint, expected, wanted, reinterpret_cast<uint64_t*>(found),
                          remote(rank, there));
    fetch->complete_part();
    if (!targets_.is_remote(rank)) connections_.flush(rank);
    return Err::success;
}

} // namespace zipmpi::proto::rma
