// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a target's memory, by the way it is reached.
#include "proto/rma/offer.hpp"
#include "proto/rma/pieces.hpp"
#include "proto/rma/window.hpp"

#include <optional>

namespace zipmpi::proto::rma {
namespace {

using Copy = transport::kcopy::Reader::Result;

// Through memory that stays in a near cache.
constexpr uint64_t staged_bytes = uint64_t{64} << 10;
constexpr uint64_t most_at_once = uint64_t{1} << 30; // by one call of the kernel

enum Use { packed_here = 3 };

void copy(const Data& from, const Data& to) {
    if (to.layout == nullptr) return load(from, 0, to.base, to.bytes);
    if (from.layout == nullptr) return store(to, 0, from.base, to.bytes);
    std::byte packed[8192];
    for (uint64_t done = 0; done < to.bytes;) {
        const uint64_t n = std::min<uint64_t>(sizeof packed, to.bytes - done);
        load(from, done, packed, n);
        store(to, done, packed, n);
        done += n;
    }
}

} // namespace

Err Window::copied(Copy result, int rank) const {
    if (result == Copy::copied) return Err::success;
    if (result == Copy::no_such_memory)
        return fail(Err::rma_range,
                    "access only memory that the target has in the window or has attached to it",
                    "rank %d has no memory there", rank);
    return fail(Err::other, "set the knob kcopy.use to no if the kernel lets copies through at first only",
                "the kernel does not let this process into the memory of rank %d any more", rank);
}

Err Window::move_by_kernel(int rank, const Target& t, bool write, const Data& here, const Data& there) {
    const bool offered = offers_ != nullptr && offers_->is_simple(there);
    if (offered && offers_->carry_simple(rank, write, here, there)) return Err::success;
    const bool whole = here.layout == nullptr;
    const Cut cut{whole ? most_at_once : staged_bytes, 1, Chunk::most_pieces};
    Chunk chunk;
    auto& kcopy = team_.lane->kcopy();
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, cut);
        if (offers_ != nullptr && !offered && offers_->suits(rank, chunk.count, chunk.bytes)) {
            if (chunk.bytes > Offers::longest) chunk.fill(there, {Offers::longest, 1, Chunk::most_pieces});
            if (offers_->carry(rank, write, here, chunk)) continue;
        }
        std::byte* const local = whole ? here.base + chunk.from : scratch_.get(packed_here, staged_bytes);
        if (write && !whole) load(here, chunk.from, local, chunk.bytes);
        const iovec one{local, chunk.bytes};
        const Copy result = write
                                ? kcopy.write_pieces(t.peer, &one, 1, chunk.pieces, chunk.count, chunk.bytes)
                                : kcopy.read_pieces(t.peer, &one, 1, chunk.pieces, chunk.count, chunk.bytes);
        if (const Err e = copied(result, rank); e != Err::success) return e;
        if (!write && !whole) store(here, chunk.from, local, chunk.bytes);
    }
    return Err::success;
}

Err Window::put(int rank, const Data& here, const Data& there, const Maker& maker) {
    const Target& t = target(rank);
    if (t.reach() == Reach::direct)
        copy(here, there);
    else if (t.reach() == Reach::kernel)
        return move_by_kernel(rank, t, true, here, there);
    else if (t.reach() == Reach::device)
        return put_by_device(rank, here, there, maker);
    else
        return send_requests(rank, wire::RmaKind::put, nullptr, here, there, {}, maker);
    return Err::success;
}

Err Window::get(int rank, const Data& here, const Data& there, const Maker& maker) {
    const Target& t = target(rank);
    if (t.reach() == Reach::direct)
        copy(there, here);
    else if (t.reach() == Reach::kernel)
        return move_by_kernel(rank, t, false, here, there);
    else if (t.reach() == Reach::device)
        return get_by_device(rank, here, there, maker);
    else
        return send_requests(rank, wire::RmaKind::get, nullptr, {}, there, here, maker);
    return Err::success;
}

Err Window::accumulate_by_kernel(int rank, const Target& t, const Combine& c, const iovec* pieces,
                                 size_t count, uint64_t bytes, const std::byte* in, std::byte* fetched) {
    auto& kcopy = team_.lane->kcopy();
    std::optional<Busy> busy;
    if (!t.alone) busy.emplace(members_[rank].combining);
    const bool reads = fetched != nullptr || c.kind == Combine::Kind::combine;
    std::byte* const there = scratch_.get(0, bytes);
    const iovec one{there, bytes};
    if (reads)
        if (const Err e = copied(kcopy.read_pieces(t.peer, &one, 1, pieces, count, bytes), rank);
            e != Err::success)
            return e;
    if (fetched != nullptr) std::memcpy(fetched, there, bytes);
    if (!c.writes()) return Err::success;
    Scratch elements; // pairs with gaps only
    combine_packed(c, in, there, bytes, elements);
    return copied(kcopy.write_pieces(t.peer, &one, 1, pieces, count, bytes), rank);
}

Err Window::combine_chunk(int rank, const Combine& c, const iovec* pieces, size_t count, uint64_t bytes,
                          const std::byte* in, std::byte* fetched) {
    const Target& t = peek(rank);
    if (t.reach() == Reach::kernel)
        return accumulate_by_kernel(rank, t, c, pieces, count, bytes, in, fetched);
    combine_pieces(c, pieces, count, in, fetched, guard_of(rank, t), scratch_);
    return Err::success;
}

Err Window::accumulate(int rank, const Combine& c, const Data& here, const Data& result, const Data& there,
                       const Maker& maker) {
    const Target& t = target(rank);
    const bool fetches = result.bytes != 0;
    if (combines_by_device(rank, c, there)) return accumulate_by_device(rank, c, here, result, there, maker);
    if (t.reach() >= Reach::device) {
        order_accumulates(rank, false);
        return send_requests(rank, fetches ? wire::RmaKind::get_accumulate : wire::RmaKind::accumulate, &c,
                             here, there, result, maker);
    }
    const Cut cut{staged_bytes, c.element_bytes, Chunk::most_pieces};
    Scratch& local = scratch_; // 3: what goes in; the fetched bytes get memory of their own
    std::vector<std::byte> packed_result(fetches && result.layout != nullptr ? staged_bytes : 0);
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, cut);
        const std::byte* in = c.writes() ? here.base + chunk.from : nullptr;
        if (c.writes() && here.layout != nullptr) {
            std::byte* const packed = local.get(packed_here, staged_bytes);
            load(here, chunk.from, packed, chunk.bytes);
            in = packed;
        }
        std::byte* fetched = nullptr;
        if (fetches) fetched = result.layout == nullptr ? result.base + chunk.from : packed_result.data();
        if (const Err e = combine_chunk(rank, c, chunk.pieces, chunk.count, chunk.bytes, in, fetched);
            e != Err::success)
            return e;
        if (fetches && result.layout != nullptr) store(result, chunk.from, fetched, chunk.bytes);
    }
    return Err::success;
}

Err Window::swap_by_kernel(int rank, const Target& t, const Swap& s, const void* compare, const void* value,
                           void* fetched, std::byte* there) {
    auto& kcopy = team_.lane->kcopy();
    std::optional<Busy> busy;
    if (!t.alone) busy.emplace(members_[rank].combining);
    std::byte found[16];
    const iovec remote{there, s.bytes};
    const iovec read{found, s.bytes};
    if (const Err e = copied(kcopy.read_pieces(t.peer, &read, 1, &remote, 1, s.bytes), rank);
        e != Err::success)
        return e;
    const bool equal = std::memcmp(found, compare, s.bytes) == 0;
    const iovec written{const_cast<void*>(value), s.bytes};
    const Err e =
        equal ? copied(kcopy.write_pieces(t.peer, &written, 1, &remote, 1, s.bytes), rank) : Err::success;
    std::memcpy(fetched, found, s.bytes);
    return e;
}

Err Window::compare_and_swap(int rank, const Swap& s, const void* compare, const void* value, void* fetched,
                             std::byte* there, const Maker& maker) {
    const Target& t = target(rank);
    if (swaps_by_device(rank, s, there)) return swap_by_device(rank, compare, value, fetched, there, maker);
    if (t.reach() == Reach::kernel) return swap_by_kernel(rank, t, s, compare, value, fetched, there);
    if (t.reach() >= Reach::device) {
        order_accumulates(rank, false);
        return send_swap(rank, s, compare, value, fetched, there, maker);
    }
    swap_element(s, there, compare, value, fetched, guard_of(rank, t));
    return Err::success;
}

} // namespace zipmpi::proto::rma
