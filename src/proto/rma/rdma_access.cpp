// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a target's memory by RDMA. Contiguous origin buffers are used in place until the operations
// are flushed. Noncontiguous and short ones are packed into a staging buffer: many programs modify a short
// buffer too early, and copying costs little.
#include "proto/rma/am_origin.hpp"
#include "proto/rma/iov_chunk.hpp"
#include "proto/rma/rdma_path.hpp"

namespace zipmpi::proto::rma {
namespace {

constexpr uint64_t staged_bytes = uint64_t{256} << 10;
constexpr uint64_t max_copied_bytes = 1024;
constexpr uint64_t max_held_bytes = uint64_t{4} << 20;
constexpr uint64_t word_bytes = sizeof(uint64_t);
// Mixed atomics: above this number one active message is cheaper than RDMA atomics per element.
constexpr uint64_t max_rdma_elements = 8;

uint64_t address_value(const std::byte* at) { return reinterpret_cast<uint64_t>(at); }

// Completes a FetchOp when the earlier operations on its endpoint are complete.
void complete_fetch(RdmaContext::CompletionAction& a, bool failed) {
    auto& fetch = *static_cast<FetchOp*>(a.subject);
    if (failed)
        fetch.error = Err::other;
    else if (!a.memory.empty())
        store(fetch.result, a.argument, a.memory.data(), a.memory.size());
    fetch.complete_part();
}

} // namespace

// Converts an address of target_address() to the target's address space.
uint64_t Window::remote_address(int rank, const std::byte* address) const {
    const Target& t = targets_[static_cast<size_t>(rank)];
    const uint64_t base = rdma_->published_keys[static_cast<size_t>(rank)].region;
    return t.path() == AccessPath::rdma ? base + address_value(address)
                                        : base + (address_value(address) - address_value(t.base));
}

// Creates a FetchOp for a request-based operation, which completes with the earlier operations.
Err Window::add_completion(int endpoint, const FetchFactory& maker) {
    if (!maker.immediate) return Err::success;
    FetchOp* const fetch = maker.make(maker.context);
    if (fetch == nullptr) return no_memory_error();
    RdmaContext::CompletionAction& a = rdma_->context.on_flushed(endpoint);
    a.immediate = true;
    a.subject = fetch;
    a.run = complete_fetch;
    return Err::success;
}

// Staging buffer for a range of the fetched bytes; stored to the result on completion.
std::byte* Window::stage_result(int endpoint, FetchOp& fetch, uint64_t from, uint64_t bytes,
                                const FetchFactory& maker) {
    RdmaContext::CompletionAction& a = rdma_->context.on_flushed(endpoint, bytes);
    a.immediate = maker.immediate;
    a.subject = &fetch;
    a.argument = from;
    a.run = complete_fetch;
    ++fetch.pending;
    return a.memory.data();
}

Err Window::put_rdma(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) return send_requests(rank, wire::RmaKind::put, nullptr, here, there, {}, maker);
    RdmaPath& path = *rdma_;
    const auto key = path.member_keys[static_cast<size_t>(rank)].region.key;
    const bool whole = here.layout == nullptr && here.bytes > max_copied_bytes;
    const ChunkLimits limits{whole ? UINT64_MAX : staged_bytes, 1, IovChunk::max_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        const std::byte* from = here.base + chunk.from;
        if (!whole) {
            if (path.context.held_bytes() > max_held_bytes) flush_rdma(rank);
            RdmaContext::CompletionAction& a = path.context.on_flushed(endpoint, chunk.bytes);
            load(here, chunk.from, a.memory.data(), chunk.bytes);
            from = a.memory.data();
        }
        path.context.mark_busy(endpoint);
        for (size_t i = 0; i < chunk.count; from += chunk.iov[i++].iov_len)
            path.context.device().put(endpoint, from, chunk.iov[i].iov_len,
                                      {remote_address(rank, chunk.segment(i)), key});
    }
    return add_completion(endpoint, maker);
}

Err Window::get_rdma(int rank, const TypedBuffer& here, const TypedBuffer& there, const FetchFactory& maker) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) return send_requests(rank, wire::RmaKind::get, nullptr, {}, there, here, maker);
    RdmaPath& path = *rdma_;
    const auto key = path.member_keys[static_cast<size_t>(rank)].region.key;
    const bool whole = here.layout == nullptr;
    FetchOp* const fetch = whole ? nullptr : maker.make(maker.context);
    if (!whole && fetch == nullptr) return no_memory_error();
    if (fetch != nullptr) fetch->result = here;
    const ChunkLimits limits{whole ? UINT64_MAX : staged_bytes, 1, IovChunk::max_segments};
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, limits);
        std::byte* to = here.base + chunk.from;
        if (fetch != nullptr) {
            if (path.context.held_bytes() > max_held_bytes) flush_rdma(rank);
            to = stage_result(endpoint, *fetch, chunk.from, chunk.bytes, maker);
        }
        path.context.mark_busy(endpoint);
        for (size_t i = 0; i < chunk.count; to += chunk.iov[i++].iov_len)
            path.context.device().get(endpoint, to, chunk.iov[i].iov_len,
                                      {remote_address(rank, chunk.segment(i)), key});
    }
    if (fetch == nullptr) return add_completion(endpoint, maker);
    fetch->complete_part();
    return Err::success;
}

// If CPU and RDMA atomics must not be mixed, the choice depends only on window, type and address.
bool Window::can_accumulate_rdma(int rank, const AccumulateOp& c, const TypedBuffer& there) const {
    if (rdma_ == nullptr || rdma_->atomics == RdmaPath::Atomics::cpu) return false;
    const bool mixed = rdma_->atomics == RdmaPath::Atomics::mixed;
    if (!c.cpu_atomic || c.element_bytes != word_bytes || c.layout != nullptr) return false;
    if (mixed &&
        (!targets_[static_cast<size_t>(rank)].remote || there.bytes > max_rdma_elements * word_bytes))
        return false;
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {UINT64_MAX, 1, IovChunk::max_segments});
        for (size_t i = 0; i < chunk.count; ++i)
            if (remote_address(rank, chunk.segment(i)) % word_bytes != 0 ||
                chunk.iov[i].iov_len % word_bytes != 0)
                return false;
    }
    return true;
}

// Preserves the order of accumulates of one origin across access paths.
void Window::order_accumulates(int rank, bool by_device) {
    if (rdma_ == nullptr) return;
    auto& last = rdma_->member_keys[static_cast<size_t>(rank)].last_path;
    const auto now = by_device ? RdmaPath::LastPath::rdma : RdmaPath::LastPath::am;
    if (last != RdmaPath::LastPath::none && last != now) flush(rank);
    last = now;
}

// Any operation on one word, by a compare-and-swap loop.
uint64_t Window::update_word_rdma(int rank, int endpoint, const AccumulateOp& c, uint64_t in,
                                  const transport::RemoteAddress& word) {
    auto& device = rdma_->context.device();
    const auto finish = [&] {
        rdma_->context.mark_busy(endpoint);
        flush_rdma(rank);
        return !device.failed(endpoint);
    };
    uint64_t found = 0;
    device.fetch_add(endpoint, 0, &found, word);
    for (bool good = finish(); good; good = finish()) {
        const uint64_t expected = found;
        uint64_t changed = expected;
        if (c.kind == AccumulateOp::Kind::replace)
            changed = in;
        else
            c.apply(&in, &changed, 1);
        device.compare_swap(endpoint, expected, changed, &found, word);
        if (!finish() || found == expected) return expected;
    }
    return found;
}

// Word by word; complete on return.
void Window::update_rdma(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                         const TypedBuffer& result, const TypedBuffer& there) {
    const auto key = rdma_->member_keys[static_cast<size_t>(rank)].region.key;
    std::vector<uint64_t> in(staged_bytes / word_bytes);
    std::vector<uint64_t> fetched(in.size());
    flush_rdma(rank);
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {staged_bytes, word_bytes, IovChunk::max_segments});
        load(here, chunk.from, reinterpret_cast<std::byte*>(in.data()), chunk.bytes);
        size_t at = 0;
        for (size_t i = 0; i < chunk.count; ++i) {
            const uint64_t first = remote_address(rank, chunk.segment(i));
            for (uint64_t k = 0; k < chunk.iov[i].iov_len; k += word_bytes, ++at)
                fetched[at] = update_word_rdma(rank, endpoint, c, in[at], {first + k, key});
        }
        if (result.bytes != 0)
            store(result, chunk.from, reinterpret_cast<const std::byte*>(fetched.data()), chunk.bytes);
    }
}

// One RDMA fetch-and-add per element, in order; results arrive later.
Err Window::fetch_add_rdma(int rank, int endpoint, const AccumulateOp& c, const TypedBuffer& here,
                           const TypedBuffer& result, const TypedBuffer& there, const FetchFactory& maker) {
    RdmaPath& path = *rdma_;
    const auto key = path.member_keys[static_cast<size_t>(rank)].region.key;
    const bool fetches = result.bytes != 0;
    FetchOp* const fetch = fetches ? maker.make(maker.context) : nullptr;
    if (fetches && fetch == nullptr) return no_memory_error();
    if (fetches) fetch->result = result;
    std::vector<uint64_t> in(std::min(staged_bytes, there.bytes) / word_bytes);
    IovChunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {staged_bytes, word_bytes, IovChunk::max_segments});
        if (c.writes()) load(here, chunk.from, reinterpret_cast<std::byte*>(in.data()), chunk.bytes);
        uint64_t* fetched = nullptr;
        if (fetches)
            fetched =
                reinterpret_cast<uint64_t*>(stage_result(endpoint, *fetch, chunk.from, chunk.bytes, maker));
        size_t at = 0;
        path.context.mark_busy(endpoint);
        for (size_t i = 0; i < chunk.count; ++i) {
            const uint64_t first = remote_address(rank, chunk.segment(i));
            for (uint64_t k = 0; k < chunk.iov[i].iov_len; k += word_bytes, ++at)
                path.context.device().fetch_add(endpoint, c.writes() ? in[at] : 0,
                                                fetches ? fetched + at : &path.discard_word,
                                                {first + k, key});
        }
    }
    if (fetches) fetch->complete_part();
    return fetches ? Err::success : add_completion(endpoint, maker);
}

Err Window::accumulate_rdma(int rank, const AccumulateOp& c, const TypedBuffer& here,
                            const TypedBuffer& result, const TypedBuffer& there, const FetchFactory& maker) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) return no_connection_error(rank);
    order_accumulates(rank, true);
    if (c.writes() && !c.is_sum) {
        update_rdma(rank, endpoint, c, here, result, there);
        return take_failure();
    }
    const Err e = fetch_add_rdma(rank, endpoint, c, here, result, there, maker);
    if (!peek(rank).remote) flush_rdma(rank); // operations within the node are complete on return
    return e;
}

bool Window::can_swap_rdma(int rank, const CompareSwapOp& s, const std::byte* there) const {
    if (rdma_ == nullptr || rdma_->atomics == RdmaPath::Atomics::cpu) return false;
    if (rdma_->atomics == RdmaPath::Atomics::mixed && !targets_[static_cast<size_t>(rank)].remote)
        return false;
    return s.cpu_atomic && s.bytes == word_bytes && remote_address(rank, there) % word_bytes == 0;
}

Err Window::swap_rdma(int rank, const void* compare, const void* value, void* fetched, std::byte* there,
                      const FetchFactory& maker) {
    const int endpoint = rdma_endpoint(rank);
    if (endpoint < 0) return no_connection_error(rank);
    order_accumulates(rank, true);
    FetchOp* const fetch = maker.make(maker.context);
    if (fetch == nullptr) return no_memory_error();
    fetch->result = {static_cast<std::byte*>(fetched), nullptr, 0, word_bytes};
    std::byte* const found = stage_result(endpoint, *fetch, 0, word_bytes, maker);
    uint64_t expected = 0;
    uint64_t wanted = 0;
    std::memcpy(&expected, compare, word_bytes);
    std::memcpy(&wanted, value, word_bytes);
    rdma_->context.mark_busy(endpoint);
    rdma_->context.device().compare_swap(
        endpoint, expected, wanted, reinterpret_cast<uint64_t*>(found),
        {remote_address(rank, there), rdma_->member_keys[static_cast<size_t>(rank)].region.key});
    fetch->complete_part();
    if (!peek(rank).remote) flush_rdma(rank);
    return Err::success;
}

} // namespace zipmpi::proto::rma
