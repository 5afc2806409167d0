// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/offer.hpp"

#include "base/param.hpp"
#include "layout/node.hpp"

namespace zipmpi::proto::rma {
namespace {

Param<int64_t> fewest_pieces{"rma.offer_pieces",
                             8,
                             {0, 1 << 20},
                             Unit::none,
                             Level::tuner,
                             Scope::local,
                             "from so many pieces of private memory on, a target on this node that is inside "
                             "MPI may move them instead of the kernel; 0: never"};

// Longer pieces gain nothing: they are copied once more.
constexpr uint64_t longest_piece = 2048;
// About half of what the kernel takes for a piece: an offer in vain costs no more than half a copy.
constexpr uint64_t patience_per_piece_ns = 100;
constexpr uint16_t most_left_out = 63;
// At least as long for a target that must get up first.
constexpr uint64_t patience_with_sleeper_ns = 20'000;
constexpr int spins_per_clock = 64;
constexpr int spins_per_yield = 1000;
// The target: offers taken in one round of progress, and looks for another one.
constexpr int most_in_a_row = 16;
constexpr int looks_after = 256;

// Lines that the other side has had last come all at once, not one after the other.
constexpr uint64_t most_ahead = 32 * wire::line_size;
void fetch_ahead(const std::byte* memory, uint64_t bytes) {
    for (uint64_t at = 0; at < std::min(bytes, most_ahead); at += wire::line_size)
        __builtin_prefetch(memory + at);
}

// From here on the target takes the packed bytes out of the origin's memory, in one piece, by the kernel:
// that is faster than to have their lines change over to the origin and back.
constexpr uint64_t least_by_kernel = 1536;
bool leaves_there(const Data& here, uint64_t bytes) {
    return here.layout == nullptr && bytes >= least_by_kernel;
}

// Elements that are pieces at equal distances.
bool is_run(const Data& there, wire::OfferRun& run) {
    if (there.layout == nullptr || there.layout->root == nullptr) return false;
    const layout::Program& p = *there.layout;
    const layout::Node& root = *p.root;
    const auto first = reinterpret_cast<uint64_t>(p.start(there.base));
    if (root.kind == layout::Node::Kind::run)
        run = {first, static_cast<uint64_t>(p.size), p.extent, static_cast<uint64_t>(there.elements)};
    else if (there.elements == 1 && root.kind == layout::Node::Kind::loop &&
             root.child->kind == layout::Node::Kind::run)
        run = {first, static_cast<uint64_t>(root.child->size), root.stride,
               static_cast<uint64_t>(root.count)};
    else
        return false;
    return true;
}

template <class Move>
void for_each_piece(const wire::OfferRun& run, std::byte*& packed, const Move& move) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): checked to be in the own region
    auto* place = reinterpret_cast<std::byte*>(run.address);
    for (uint64_t i = 0; i < run.count; ++i, place += run.stride, packed += run.length) move(place, packed);
}

template <size_t length>
void move_run(const wire::OfferRun& run, std::byte*& packed, bool write) {
    if (write)
        for_each_piece(run, packed,
                       [](std::byte* place, const std::byte* bytes) { std::memcpy(place, bytes, length); });
    else
        for_each_piece(run, packed,
                       [](const std::byte* place, std::byte* bytes) { std::memcpy(bytes, place, length); });
}

// Short pieces of usual lengths are single loads and stores.
void move_run(const wire::OfferRun& run, std::byte*& packed, bool write) {
    const auto length = static_cast<size_t>(run.length);
    if (length == 4) return move_run<4>(run, packed, write);
    if (length == 8) return move_run<8>(run, packed, write);
    if (length == 16) return move_run<16>(run, packed, write);
    if (length == 32) return move_run<32>(run, packed, write);
    if (write)
        for_each_piece(run, packed,
                       [&](std::byte* place, const std::byte* bytes) { std::memcpy(place, bytes, length); });
    else
        for_each_piece(run, packed,
                       [&](const std::byte* place, std::byte* bytes) { std::memcpy(bytes, place, length); });
}

// Pieces that follow each other at equal distances become one run.
uint32_t list_runs(const Chunk& chunk, wire::OfferRun* runs) {
    uint32_t count = 0;
    for (size_t i = 0; i < chunk.count; ++i) {
        const auto address = reinterpret_cast<uint64_t>(chunk.pieces[i].iov_base);
        const uint64_t length = chunk.pieces[i].iov_len;
        wire::OfferRun* const last = count != 0 ? &runs[count - 1] : nullptr;
        if (last != nullptr && last->length == length) {
            const auto step = static_cast<int64_t>(address - last->address) -
                              last->stride * static_cast<int64_t>(last->count - 1);
            if (last->count == 1) last->stride = step;
            if (last->stride == step) {
                ++last->count;
                continue;
            }
        }
        runs[count++] = {address, length, 0, 1};
    }
    return count;
}

} // namespace

Window::Offers::Offers(Window& window)
    : window_(window)
    , own_offer_(window.members_[window.team_.rank].offer)
    , luck_(static_cast<size_t>(window.team_.size)) {
    watch_.offers = this;
    watch_.look = [](Watcher& w) { return static_cast<Watch&>(w).offers->serve(); };
    const Region& own = window.regions_[static_cast<size_t>(window.team_.rank)];
    if (own.place == 0 && own.size != 0) window.team_.lane->watch(watch_);
}

Window::Offers::~Offers() {
    Lane& lane = *window_.team_.lane;
    lane.unwatch(watch_);
    for (const Seen& s : seen_)
        transport::shm::Arena::unmap(reinterpret_cast<std::byte*>(s.offer), sizeof(wire::Offer));
    if (mine_ != nullptr) lane.arena().free(mine_);
}

// --- the target

wire::Offer* Window::Offers::see(uint64_t word) {
    for (const Seen& s : seen_)
        if (s.word == word) return s.offer;
    const auto peer = static_cast<transport::Peer>((word & UINT16_MAX) - 1);
    auto* const offer = reinterpret_cast<wire::Offer*>(
        window_.team_.lane->arena().map(peer, word >> 16U, sizeof(wire::Offer)));
    if (offer != nullptr) seen_.push_back({word, offer});
    return offer;
}

bool Window::Offers::is_own(const wire::OfferRun& run) const {
    int64_t way = 0;
    if (run.count == 0 || run.count > longest || run.length > longest ||
        __builtin_mul_overflow(run.stride, static_cast<int64_t>(run.count - 1), &way))
        return false;
    const uint64_t low = run.address + static_cast<uint64_t>(std::min<int64_t>(way, 0));
    const uint64_t bytes =
        (way < 0 ? 0 - static_cast<uint64_t>(way) : static_cast<uint64_t>(way)) + run.length;
    const Region& own = window_.regions_[static_cast<size_t>(window_.team_.rank)];
    if (own.size == everywhere) return window_.is_attached(low, bytes);
    return low >= own.base && low - own.base <= own.size && bytes <= own.size - (low - own.base);
}

// Puts bytes into the pieces, or takes them out.
bool Window::Offers::move(wire::Offer& offer, std::byte* packed, uint64_t bytes) const {
    const bool write = offer.writes != 0;
    for (uint64_t i = 0; i < std::min<uint64_t>(offer.runs, wire::offer_runs); ++i) {
        const wire::OfferRun run = offer.run[i]; // as it is checked
        if (!is_own(run) || run.length * run.count > bytes) return false;
        bytes -= run.length * run.count;
        move_run(run, packed, write);
    }
    return bytes == 0;
}

bool Window::Offers::move_offered(wire::Offer& offer, transport::Peer peer) {
    const uint64_t bytes = offer.bytes;
    if (bytes > longest) return false;
    if (offer.place == 0) {
        if (offer.writes != 0) fetch_ahead(offer.data, bytes);
        return move(offer, offer.data, bytes);
    }
    Lane& lane = *window_.team_.lane;
    packed_.resize(longest);
    std::byte* const packed = packed_.data();
    if (offer.writes != 0)
        return lane.read_peer(peer, offer.place, packed, bytes) && move(offer, packed, bytes);
    return move(offer, packed, bytes) && lane.write_peer(peer, offer.place, packed, bytes);
}

// An offer that cannot be seen from here is left to its origin, who takes it back.
bool Window::Offers::serve_one() {
    uint64_t word = own_offer_.load(std::memory_order_relaxed);
    if (word == 0) [[likely]]
        return false;
    wire::Offer* const offer = see(word);
    if (offer == nullptr) return false;
    fetch_ahead(reinterpret_cast<const std::byte*>(offer), wire::line_size); // while the word comes here
    // acquire pairs with the exchange in carry()
    if (!own_offer_.compare_exchange_strong(word, 0, std::memory_order_acquire)) return false;
    const bool moved = move_offered(*offer, static_cast<transport::Peer>((word & UINT16_MAX) - 1));
    offer->state.store(moved ? wire::OfferState::done : wire::OfferState::refused,
                       std::memory_order_release); // pairs with is_over()
    return true;
}

// Who has offered once often offers again.
int Window::Offers::serve() {
    int served = 0;
    while (served < most_in_a_row && serve_one()) {
        ++served;
        for (int i = 0; i < looks_after && own_offer_.load(std::memory_order_relaxed) == 0; ++i) {
        }
    }
    return served;
}

// --- the origin

bool Window::Offers::have_memory() {
    if (mine_ != nullptr || no_memory_) return mine_ != nullptr;
    auto& arena = window_.team_.lane->arena();
    mine_ = static_cast<wire::Offer*>(arena.allocate(sizeof(wire::Offer)));
    no_memory_ = mine_ == nullptr;
    if (mine_ != nullptr)
        word_ = arena.place_of(mine_, sizeof(wire::Offer)) << 16U | (window_.team_.lane->shm().self() + 1U);
    return mine_ != nullptr;
}

// A target that shares its CPU with others is not waited for, nor woken up.
bool Window::Offers::suits(int rank, uint64_t pieces, uint64_t bytes) {
    const auto fewest = static_cast<uint64_t>(fewest_pieces.get());
    if (fewest == 0 || pieces < fewest || bytes > pieces * longest_piece) return false;
    Lane& lane = *window_.team_.lane;
    if (lane.oversubscribed() && !lane.few_awake()) return false;
    Luck& luck = luck_[static_cast<size_t>(rank)];
    if (luck.left_out > 0) {
        --luck.left_out;
        return false;
    }
    return have_memory();
}

bool Window::Offers::is_over() const {
    return mine_->state.load(std::memory_order_acquire) != wire::OfferState::open; // pairs with serve()
}

// Serves others meanwhile: two ranks may offer to each other.
bool Window::Offers::await_target(int rank, uint64_t patience_ns) {
    const uint64_t begin = os::now_ns();
    do {
        for (int i = 0; i < spins_per_clock; ++i) {
            if (is_over()) return true;
        }
        serve_one();
    } while (os::now_ns() - begin < patience_ns);
    uint64_t word = word_;
    if (window_.members_[rank].offer.compare_exchange_strong(word, 0, std::memory_order_seq_cst))
        return false;
    return await_end(rank);
}

// The target has taken it and is at work, unless it has just died.
bool Window::Offers::await_end(int rank) {
    Lane& lane = *window_.team_.lane;
    for (int spins = 1; !is_over(); ++spins) {
        os::cpu_relax();
        if (spins % spins_per_yield != 0) continue;
        lane.look_for_news();
        if (lane.faults().gone.contains(window_.team_.map.world(rank))) return false;
        os::yield_cpu();
    }
    return true;
}

bool Window::Offers::offer(int rank, bool write, const Data& here, const Packed& packed) {
    wire::Offer& offer = *mine_;
    const bool stays = leaves_there(here, packed.bytes);
    offer.writes = write ? 1 : 0;
    offer.bytes = static_cast<uint32_t>(packed.bytes);
    offer.place = stays ? reinterpret_cast<uint64_t>(here.base + packed.from) : 0;
    if (write && !stays) load(here, packed.from, offer.data, packed.bytes);
    offer.state.store(wire::OfferState::open, std::memory_order_relaxed);
    uint64_t none = 0;
    // seq_cst: the target sees it before it sleeps, or is woken
    if (!window_.members_[rank].offer.compare_exchange_strong(none, word_, std::memory_order_seq_cst))
        return false; // another origin was first
    const transport::Peer peer = window_.peek(rank).peer;
    auto& shm = window_.team_.lane->shm();
    uint64_t patience_ns = packed.pieces * patience_per_piece_ns;
    if (shm.segment().block(peer).sleepers.load(std::memory_order_seq_cst) != 0) {
        shm.wake_peer(peer);
        patience_ns = std::max(patience_ns, patience_with_sleeper_ns);
    }
    Luck& luck = luck_[static_cast<size_t>(rank)];
    if (!await_target(rank, patience_ns)) {
        luck.vain = static_cast<uint16_t>(std::min(2 * luck.vain + 1, int{most_left_out}));
        luck.left_out = luck.vain;
        return false;
    }
    luck.vain = 0;
    if (offer.state.load(std::memory_order_relaxed) != wire::OfferState::done) return false;
    if (!write && !stays) store(here, packed.from, offer.data, packed.bytes);
    return true;
}

bool Window::Offers::carry(int rank, bool write, const Data& here, const Chunk& chunk) {
    mine_->runs = list_runs(chunk, mine_->run);
    return offer(rank, write, here, {chunk.from, chunk.bytes, chunk.count});
}

bool Window::Offers::is_simple(const Data& there) {
    wire::OfferRun run{};
    return there.bytes <= longest && is_run(there, run);
}

bool Window::Offers::carry_simple(int rank, bool write, const Data& here, const Data& there) {
    wire::OfferRun run{};
    if (!is_run(there, run) || !suits(rank, run.count, there.bytes)) return false;
    mine_->runs = 1;
    mine_->run[0] = run;
    return offer(rank, write, here, {0, there.bytes, run.count});
}

} // namespace zipmpi::proto::rma
