// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a target's memory by the network device. What lies in a row is used where it is, until the
// operations are settled; what has gaps at the origin, or is short, is packed into memory that is held until
// then: programs that change a short buffer too early are many, and copying costs little.
#include "proto/rma/messages.hpp"
#include "proto/rma/on_device.hpp"
#include "proto/rma/pieces.hpp"

namespace zipmpi::proto::rma {
namespace {

constexpr uint64_t staged_bytes = uint64_t{256} << 10;
constexpr uint64_t copied_most = 1024;
constexpr uint64_t most_held = uint64_t{4} << 20;
constexpr uint64_t word_bytes = sizeof(uint64_t);
// Mixed atomics: more elements are cheaper in one request than one by one.
constexpr uint64_t few_elements = 8;

uint64_t number(const std::byte* at) { return reinterpret_cast<uint64_t>(at); }

// An exchange that ends with the operations so far.
void end_exchange(Device::After& a, bool failed) {
    auto& exchange = *static_cast<Exchange*>(a.subject);
    if (failed)
        exchange.error = Err::other;
    else if (!a.memory.empty())
        store(exchange.result, a.argument, a.memory.data(), a.memory.size());
    exchange.part_done();
}

} // namespace

// For target(rank): where in its memory something lies that the operation knows by its place here.
uint64_t Window::address_there(int rank, const std::byte* place) const {
    const Target& t = targets_[static_cast<size_t>(rank)];
    const uint64_t base = on_device_->cards[static_cast<size_t>(rank)].region;
    return t.reach() == Reach::device ? base + number(place) : base + (number(place) - number(t.base));
}

// A request of the program waits for it.
Err Window::end_with(int end, const Maker& maker) {
    if (!maker.at_once) return Err::success;
    Exchange* const exchange = maker.make(maker.maker);
    if (exchange == nullptr) return no_memory_for_requests();
    Device::After& a = on_device_->device.when_settled(end);
    a.at_once = true;
    a.subject = exchange;
    a.run = end_exchange;
    return Err::success;
}

// Memory for a part of what an exchange fetches, until the device has filled it.
std::byte* Window::hold_result(int end, Exchange& exchange, uint64_t from, uint64_t bytes,
                               const Maker& maker) {
    Device::After& a = on_device_->device.when_settled(end, bytes);
    a.at_once = maker.at_once;
    a.subject = &exchange;
    a.argument = from;
    a.run = end_exchange;
    ++exchange.waiting;
    return a.memory.data();
}

Err Window::put_by_device(int rank, const Data& here, const Data& there, const Maker& maker) {
    const int end = device_end(rank);
    if (end < 0) return send_requests(rank, wire::RmaKind::put, nullptr, here, there, {}, maker);
    OnDevice& on = *on_device_;
    const auto key = on.sides[static_cast<size_t>(rank)].region.key;
    const bool whole = here.layout == nullptr && here.bytes > copied_most;
    const Cut cut{whole ? UINT64_MAX : staged_bytes, 1, Chunk::most_pieces};
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, cut);
        const std::byte* from = here.base + chunk.from;
        if (!whole) {
            if (on.device.held_bytes() > most_held) settle(rank);
            Device::After& a = on.device.when_settled(end, chunk.bytes);
            load(here, chunk.from, a.memory.data(), chunk.bytes);
            from = a.memory.data();
        }
        on.device.note(end);
        for (size_t i = 0; i < chunk.count; from += chunk.pieces[i++].iov_len)
            on.device.direct().put(end, from, chunk.pieces[i].iov_len,
                                   {address_there(rank, chunk.piece(i)), key});
    }
    return end_with(end, maker);
}

Err Window::get_by_device(int rank, const Data& here, const Data& there, const Maker& maker) {
    const int end = device_end(rank);
    if (end < 0) return send_requests(rank, wire::RmaKind::get, nullptr, {}, there, here, maker);
    OnDevice& on = *on_device_;
    const auto key = on.sides[static_cast<size_t>(rank)].region.key;
    const bool whole = here.layout == nullptr;
    Exchange* const exchange = whole ? nullptr : maker.make(maker.maker);
    if (!whole && exchange == nullptr) return no_memory_for_requests();
    if (exchange != nullptr) exchange->result = here;
    const Cut cut{whole ? UINT64_MAX : staged_bytes, 1, Chunk::most_pieces};
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, cut);
        std::byte* to = here.base + chunk.from;
        if (exchange != nullptr) {
            if (on.device.held_bytes() > most_held) settle(rank);
            to = hold_result(end, *exchange, chunk.from, chunk.bytes, maker);
        }
        on.device.note(end);
        for (size_t i = 0; i < chunk.count; to += chunk.pieces[i++].iov_len)
            on.device.direct().get(end, to, chunk.pieces[i].iov_len,
                                   {address_there(rank, chunk.piece(i)), key});
    }
    if (exchange == nullptr) return end_with(end, maker);
    exchange->part_done();
    return Err::success;
}

// Depends on window, type and address alone where the two ways may not meet.
bool Window::combines_by_device(int rank, const Combine& c, const Data& there) const {
    if (on_device_ == nullptr || on_device_->atomics == OnDevice::Atomics::cpu) return false;
    const bool mixed = on_device_->atomics == OnDevice::Atomics::mixed;
    if (!c.by_cpu || c.element_bytes != word_bytes || c.gaps != nullptr) return false;
    if (mixed && (!targets_[static_cast<size_t>(rank)].remote || there.bytes > few_elements * word_bytes))
        return false;
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {UINT64_MAX, 1, Chunk::most_pieces});
        for (size_t i = 0; i < chunk.count; ++i)
            if (address_there(rank, chunk.piece(i)) % word_bytes != 0 ||
                chunk.pieces[i].iov_len % word_bytes != 0)
                return false;
    }
    return true;
}

// Accumulates of one origin keep their order, whichever way they go.
void Window::order_accumulates(int rank, bool by_device) {
    if (on_device_ == nullptr) return;
    auto& last = on_device_->sides[static_cast<size_t>(rank)].last;
    const auto now = by_device ? OnDevice::Last::device : OnDevice::Last::requests;
    if (last != OnDevice::Last::none && last != now) flush(rank);
    last = now;
}

// Any operation on one word: computes here and stores if nobody else has changed it meanwhile.
uint64_t Window::change_word(int rank, int end, const Combine& c, uint64_t in,
                             const transport::ucx::There& word) {
    auto& direct = on_device_->device.direct();
    const auto finish = [&] {
        on_device_->device.note(end);
        settle(rank);
        return !direct.failed(end);
    };
    uint64_t found = 0;
    direct.fetch_add(end, 0, &found, word);
    for (bool good = finish(); good; good = finish()) {
        const uint64_t expected = found;
        uint64_t changed = expected;
        if (c.kind == Combine::Kind::replace)
            changed = in;
        else
            c.apply(&in, &changed, 1);
        direct.compare_swap(end, expected, changed, &found, word);
        if (!finish() || found == expected) return expected;
    }
    return found;
}

// Step by step; everything is done on return.
void Window::change_by_device(int rank, int end, const Combine& c, const Data& here, const Data& result,
                              const Data& there) {
    const auto key = on_device_->sides[static_cast<size_t>(rank)].region.key;
    std::vector<uint64_t> in(staged_bytes / word_bytes);
    std::vector<uint64_t> fetched(in.size());
    settle(rank);
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {staged_bytes, word_bytes, Chunk::most_pieces});
        load(here, chunk.from, reinterpret_cast<std::byte*>(in.data()), chunk.bytes);
        size_t at = 0;
        for (size_t i = 0; i < chunk.count; ++i) {
            const uint64_t first = address_there(rank, chunk.piece(i));
            for (uint64_t k = 0; k < chunk.pieces[i].iov_len; k += word_bytes, ++at)
                fetched[at] = change_word(rank, end, c, in[at], {first + k, key});
        }
        if (result.bytes != 0)
            store(result, chunk.from, reinterpret_cast<const std::byte*>(fetched.data()), chunk.bytes);
    }
}

// One operation of the device for each element, which keeps their order; results come later.
Err Window::add_by_device(int rank, int end, const Combine& c, const Data& here, const Data& result,
                          const Data& there, const Maker& maker) {
    OnDevice& on = *on_device_;
    const auto key = on.sides[static_cast<size_t>(rank)].region.key;
    const bool fetches = result.bytes != 0;
    Exchange* const exchange = fetches ? maker.make(maker.maker) : nullptr;
    if (fetches && exchange == nullptr) return no_memory_for_requests();
    if (fetches) exchange->result = result;
    std::vector<uint64_t> in(std::min(staged_bytes, there.bytes) / word_bytes);
    Chunk chunk;
    for (; chunk.from < there.bytes; chunk.from += chunk.bytes) {
        chunk.fill(there, {staged_bytes, word_bytes, Chunk::most_pieces});
        if (c.writes()) load(here, chunk.from, reinterpret_cast<std::byte*>(in.data()), chunk.bytes);
        uint64_t* fetched = nullptr;
        if (fetches)
            fetched =
                reinterpret_cast<uint64_t*>(hold_result(end, *exchange, chunk.from, chunk.bytes, maker));
        size_t at = 0;
        on.device.note(end);
        for (size_t i = 0; i < chunk.count; ++i) {
            const uint64_t first = address_there(rank, chunk.piece(i));
            for (uint64_t k = 0; k < chunk.pieces[i].iov_len; k += word_bytes, ++at)
                on.device.direct().fetch_add(end, c.writes() ? in[at] : 0,
                                             fetches ? fetched + at : &on.nowhere, {first + k, key});
        }
    }
    if (fetches) exchange->part_done();
    return fetches ? Err::success : end_with(end, maker);
}

Err Window::accumulate_by_device(int rank, const Combine& c, const Data& here, const Data& result,
                                 const Data& there, const Maker& maker) {
    const int end = device_end(rank);
    if (end < 0) return no_way(rank);
    order_accumulates(rank, true);
    if (c.writes() && !c.adds) {
        change_by_device(rank, end, c, here, result, there);
        return take_failure();
    }
    const Err e = add_by_device(rank, end, c, here, result, there, maker);
    if (!peek(rank).remote) settle(rank); // what goes to ranks of the node is done on return
    return e;
}

bool Window::swaps_by_device(int rank, const Swap& s, const std::byte* there) const {
    if (on_device_ == nullptr || on_device_->atomics == OnDevice::Atomics::cpu) return false;
    if (on_device_->atomics == OnDevice::Atomics::mixed && !targets_[static_cast<size_t>(rank)].remote)
        return false;
    return s.by_cpu && s.bytes == word_bytes && address_there(rank, there) % word_bytes == 0;
}

Err Window::swap_by_device(int rank, const void* compare, const void* value, void* fetched, std::byte* there,
                           const Maker& maker) {
    const int end = device_end(rank);
    if (end < 0) return no_way(rank);
    order_accumulates(rank, true);
    Exchange* const exchange = maker.make(maker.maker);
    if (exchange == nullptr) return no_memory_for_requests();
    exchange->result = {static_cast<std::byte*>(fetched), nullptr, 0, word_bytes};
    std::byte* const found = hold_result(end, *exchange, 0, word_bytes, maker);
    uint64_t expected = 0;
    uint64_t wanted = 0;
    std::memcpy(&expected, compare, word_bytes);
    std::memcpy(&wanted, value, word_bytes);
    on_device_->device.note(end);
    on_device_->device.direct().compare_swap(
        end, expected, wanted, reinterpret_cast<uint64_t*>(found),
        {address_there(rank, there), on_device_->sides[static_cast<size_t>(rank)].region.key});
    exchange->part_done();
    if (!peek(rank).remote) settle(rank);
    return Err::success;
}

} // namespace zipmpi::proto::rma
