// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/assist.hpp"

#include "base/param.hpp"
#include "packing/layout_node.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/rma/attached_ranges.hpp"

namespace zipmpi::proto::rma {
namespace {

Param<int64_t> min_segments{
    "rma.assist_min_segments",
    8,
    {0, 1 << 20},
    Unit::none,
    Level::tuner,
    Scope::local,
    "number of segments of private memory from which a target on this node that is inside "
    "MPI may move the data instead of CMA; 0: never"};

// Average segment size above which assistance does not pay off, because of the additional copy.
constexpr uint64_t max_segment_bytes = 2048;
// About half the CMA time per segment: a withdrawn request costs at most half a transfer.
constexpr uint64_t timeout_per_segment_ns = 100;
constexpr uint16_t max_skips = 63;
// Minimum timeout for a target that must wake up first.
constexpr uint64_t sleeper_timeout_ns = 20'000;
constexpr int spins_per_clock = 64;
constexpr int spins_per_yield = 1000;
// Target: requests served per progress call, and polls for a next request after each.
constexpr int max_served = 16;
constexpr int polls_after_request = 256;

// Prefetching overlaps the transfers of cache lines that the other side has written last.
constexpr uint64_t max_prefetch_bytes = 32 * wire::cache_line;
void prefetch(const std::byte* memory, uint64_t bytes) {
    for (uint64_t at = 0; at < std::min(bytes, max_prefetch_bytes); at += wire::cache_line)
        __builtin_prefetch(memory + at);
}

// From this size on the target accesses the packed bytes in the origin's memory with one CMA copy, which is
// faster than transferring their cache lines to the origin and back.
constexpr uint64_t min_cma_bytes = 1536;
bool should_read_origin(const TypedBuffer& here, uint64_t bytes) {
    return here.layout == nullptr && bytes >= min_cma_bytes;
}

// Returns true if the elements form one strided run.
bool find_single_run(const TypedBuffer& there, wire::StridedRun& run) {
    if (there.layout == nullptr || there.layout->root == nullptr) return false;
    const packing::Layout& p = *there.layout;
    const packing::LayoutNode& root = *p.root;
    const auto first = reinterpret_cast<uint64_t>(p.start(there.base));
    if (root.kind == packing::LayoutNode::Kind::run)
        run = {first, static_cast<uint64_t>(p.size), p.extent, static_cast<uint64_t>(there.elements)};
    else if (there.elements == 1 && root.kind == packing::LayoutNode::Kind::loop &&
             root.child->kind == packing::LayoutNode::Kind::run)
        run = {first, static_cast<uint64_t>(root.child->size), root.stride,
               static_cast<uint64_t>(root.count)};
    else
        return false;
    return true;
}

template <class Move>
void for_each_segment(const wire::StridedRun& run, std::byte*& packed, const Move& move) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): checked to be in the local region
    auto* address = reinterpret_cast<std::byte*>(run.address);
    for (uint64_t i = 0; i < run.count; ++i, address += run.stride, packed += run.length)
        move(address, packed);
}

template <size_t length>
void move_run(const wire::StridedRun& run, std::byte*& packed, Direction direction) {
    if (direction == Direction::write)
        for_each_segment(run, packed, [](std::byte* address, const std::byte* bytes) {
            std::memcpy(address, bytes, length);
        });
    else
        for_each_segment(run, packed, [](const std::byte* address, std::byte* bytes) {
            std::memcpy(bytes, address, length);
        });
}

// Common short lengths compile to single loads and stores.
void move_run(const wire::StridedRun& run, std::byte*& packed, Direction direction) {
    const auto length = static_cast<size_t>(run.length);
    if (length == 4) return move_run<4>(run, packed, direction);
    if (length == 8) return move_run<8>(run, packed, direction);
    if (length == 16) return move_run<16>(run, packed, direction);
    if (length == 32) return move_run<32>(run, packed, direction);
    if (direction == Direction::write)
        for_each_segment(run, packed, [&](std::byte* address, const std::byte* bytes) {
            std::memcpy(address, bytes, length);
        });
    else
        for_each_segment(run, packed, [&](const std::byte* address, std::byte* bytes) {
            std::memcpy(bytes, address, length);
        });
}

// Merges consecutive segments of equal length and stride into runs.
uint32_t list_runs(const IovChunk& chunk, wire::StridedRun* runs) {
    uint32_t count = 0;
    for (size_t i = 0; i < chunk.count; ++i) {
        const auto address = reinterpret_cast<uint64_t>(chunk.iov[i].iov_base);
        const uint64_t length = chunk.iov[i].iov_len;
        wire::StridedRun* const last = count != 0 ? &runs[count - 1] : nullptr;
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

TargetAssist::TargetAssist(const TargetTable& targets, const AttachedRanges& attached)
    : targets_(targets)
    , attached_(attached)
    , own_request_word_(targets.own_member().assist)
    , backoff_(static_cast<size_t>(targets.team().size)) {
    hook_.assist = this;
    hook_.poll = [](ProgressHook& w) { return static_cast<AssistHook&>(w).assist->serve(); };
    if (targets.own_region().is_private()) targets.team().engine->hooks().add(hook_);
}

TargetAssist::~TargetAssist() {
    ProgressEngine& engine = *targets_.team().engine;
    engine.hooks().remove(hook_);
    for (const MappedRequest& s : mapped_)
        transport::shm::Arena::unmap(reinterpret_cast<std::byte*>(s.request), sizeof(wire::AssistRequest));
    if (request_ != nullptr) engine.arena().free(request_);
}

// --- target side

wire::AssistRequest* TargetAssist::map_request(uint64_t word) {
    for (const MappedRequest& s : mapped_)
        if (s.word == word) return s.request;
    const auto peer = static_cast<transport::Peer>((word & UINT16_MAX) - 1);
    auto* const request = reinterpret_cast<wire::AssistRequest*>(
        targets_.team().engine->arena().map(peer, word >> 16U, sizeof(wire::AssistRequest)));
    if (request != nullptr) mapped_.push_back({word, request});
    return request;
}

bool TargetAssist::is_in_own_region(const wire::StridedRun& run) const {
    int64_t extent = 0;
    if (run.count == 0 || run.count > max_bytes || run.length > max_bytes ||
        __builtin_mul_overflow(run.stride, static_cast<int64_t>(run.count - 1), &extent))
        return false;
    const uint64_t low = run.address + static_cast<uint64_t>(std::min<int64_t>(extent, 0));
    const uint64_t bytes =
        (extent < 0 ? 0 - static_cast<uint64_t>(extent) : static_cast<uint64_t>(extent)) + run.length;
    const Region& own = targets_.own_region();
    if (own.is_dynamic()) return attached_.contains(low, bytes);
    return low >= own.base && low - own.base <= own.size && bytes <= own.size - (low - own.base);
}

// Copies packed bytes into the segments, or out of them.
bool TargetAssist::move_runs(wire::AssistRequest& request, std::byte* packed, uint64_t bytes) const {
    const Direction direction = request.writes != 0 ? Direction::write : Direction::read;
    for (uint64_t i = 0; i < std::min<uint64_t>(request.runs, wire::assist_runs); ++i) {
        const wire::StridedRun run =
            request.run[i]; // private copy: the origin could change it after the check
        if (!is_in_own_region(run) || run.length * run.count > bytes) return false;
        bytes -= run.length * run.count;
        move_run(run, packed, direction);
    }
    return bytes == 0;
}

bool TargetAssist::execute(wire::AssistRequest& request, transport::Peer peer) {
    const uint64_t bytes = request.bytes;
    if (bytes > max_bytes) return false;
    if (request.packed_address == 0) {
        if (request.writes != 0) prefetch(request.data, bytes);
        return move_runs(request, request.data, bytes);
    }
    ProgressEngine& engine = *targets_.team().engine;
    packed_.resize(max_bytes);
    std::byte* const packed = packed_.data();
    if (request.writes != 0)
        return engine.cma().read(peer, request.packed_address, packed, bytes) &&
               move_runs(request, packed, bytes);
    return move_runs(request, packed, bytes) &&
           engine.cma().write(peer, request.packed_address, packed, bytes);
}

// A request that cannot be mapped is left to its origin, which withdraws it.
bool TargetAssist::serve_one() {
    uint64_t word = own_request_word_.load(std::memory_order_relaxed);
    if (word == 0) [[likely]]
        return false;
    wire::AssistRequest* const request = map_request(word);
    if (request == nullptr) return false;
    prefetch(reinterpret_cast<const std::byte*>(request),
             wire::cache_line); // overlaps with the compare-and-swap
    // acquire pairs with the exchange in post_request()
    if (!own_request_word_.compare_exchange_strong(word, 0, std::memory_order_acquire)) return false;
    const bool moved = execute(*request, static_cast<transport::Peer>((word & UINT16_MAX) - 1));
    request->state.store(moved ? wire::AssistState::done : wire::AssistState::refused,
                         std::memory_order_release); // pairs with is_complete()
    return true;
}

// An origin often posts several requests in a row.
int TargetAssist::serve() {
    int served = 0;
    while (served < max_served && serve_one()) {
        ++served;
        for (int i = 0; i < polls_after_request && own_request_word_.load(std::memory_order_relaxed) == 0;
             ++i) {
        }
    }
    return served;
}

// --- origin side

bool TargetAssist::ensure_memory() {
    if (request_ != nullptr || no_memory_) return request_ != nullptr;
    auto& arena = targets_.team().engine->arena();
    request_ = static_cast<wire::AssistRequest*>(arena.allocate(sizeof(wire::AssistRequest)));
    no_memory_ = request_ == nullptr;
    if (request_ != nullptr)
        request_word_ = arena.offset_of(request_, sizeof(wire::AssistRequest)) << 16U |
                        (targets_.team().engine->shm().self() + 1U);
    return request_ != nullptr;
}

// When oversubscribed, the target is neither awaited nor woken unless most ranks sleep.
bool TargetAssist::is_worthwhile(int rank, uint64_t segments, uint64_t bytes) {
    const auto fewest = static_cast<uint64_t>(min_segments.get());
    if (fewest == 0 || segments < fewest || bytes > segments * max_segment_bytes) return false;
    ProgressEngine& engine = *targets_.team().engine;
    if (engine.wait_tuning().awake_share_cpus()) return false;
    Backoff& backoff = backoff_[static_cast<size_t>(rank)];
    if (backoff.skips_left > 0) {
        --backoff.skips_left;
        return false;
    }
    return ensure_memory();
}

bool TargetAssist::is_complete() const {
    return request_->state.load(std::memory_order_acquire) !=
           wire::AssistState::open; // pairs with serve_one()
}

// Serves requests of others while waiting: two ranks may post to each other.
bool TargetAssist::await_target(int rank, uint64_t timeout_ns) {
    const uint64_t begin = os::now_ns();
    do {
        for (int i = 0; i < spins_per_clock; ++i) {
            if (is_complete()) return true;
        }
        serve_one();
    } while (os::now_ns() - begin < timeout_ns);
    uint64_t word = request_word_;
    if (targets_.member(rank).assist.compare_exchange_strong(word, 0, std::memory_order_seq_cst))
        return false;
    return await_completion(rank);
}

// The target has taken the request; waits for its completion or a failure of the target.
bool TargetAssist::await_completion(int rank) {
    ProgressEngine& engine = *targets_.team().engine;
    for (int spins = 1; !is_complete(); ++spins) {
        os::cpu_relax();
        if (spins % spins_per_yield != 0) continue;
        engine.faults().poll();
        if (engine.faults().table().failed_ranks.contains(targets_.team().map.world(rank))) return false;
        os::yield_cpu();
    }
    return true;
}

bool TargetAssist::post_request(int rank, Direction direction, const TypedBuffer& here,
                                const PackedRange& packed) {
    wire::AssistRequest& request = *request_;
    const bool write = direction == Direction::write;
    const bool stays = should_read_origin(here, packed.bytes);
    request.writes = write ? 1 : 0;
    request.bytes = static_cast<uint32_t>(packed.bytes);
    request.packed_address = stays ? reinterpret_cast<uint64_t>(here.base + packed.from) : 0;
    if (write && !stays) load(here, packed.from, request.data, packed.bytes);
    request.state.store(wire::AssistState::open, std::memory_order_relaxed);
    uint64_t none = 0;
    // seq_cst: the target either sees the request before it sleeps, or is woken
    if (!targets_.member(rank).assist.compare_exchange_strong(none, request_word_, std::memory_order_seq_cst))
        return false; // another origin was first
    const transport::Peer peer = targets_.peek(rank).peer;
    auto& shm = targets_.team().engine->shm();
    uint64_t timeout_ns = packed.segments * timeout_per_segment_ns;
    if (shm.segment().block(peer).sleepers.load(std::memory_order_seq_cst) != 0) {
        shm.wake_peer(peer);
        timeout_ns = std::max(timeout_ns, sleeper_timeout_ns);
    }
    Backoff& backoff = backoff_[static_cast<size_t>(rank)];
    if (!await_target(rank, timeout_ns)) {
        backoff.skip_count = static_cast<uint16_t>(std::min(2 * backoff.skip_count + 1, int{max_skips}));
        backoff.skips_left = backoff.skip_count;
        return false;
    }
    backoff.skip_count = 0;
    if (request.state.load(std::memory_order_relaxed) != wire::AssistState::done) return false;
    if (!write && !stays) store(here, packed.from, request.data, packed.bytes);
    return true;
}

bool TargetAssist::transfer(int rank, Direction direction, const TypedBuffer& here, const IovChunk& chunk) {
    request_->runs = list_runs(chunk, request_->run);
    return post_request(rank, direction, here, {chunk.from, chunk.bytes, chunk.count});
}

bool TargetAssist::is_single_run(const TypedBuffer& there) {
    wire::StridedRun run{};
    return there.bytes <= max_bytes && find_single_run(there, run);
}

bool TargetAssist::transfer_run(int rank, Direction direction, const TypedBuffer& here,
                                const TypedBuffer& there) {
    wire::StridedRun run{};
    if (!find_single_run(there, run) || !is_worthwhile(rank, run.count, there.bytes)) return false;
    request_->runs = 1;
    request_->run[0] = run;
    return post_request(rank, direction, here, {0, there.bytes, run.count});
}

} // namespace zipmpi::proto::rma
