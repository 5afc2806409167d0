// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/context.hpp"

#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/stream/process_handshake.hpp"
#include "wire/external_rank.hpp"

#include <bitset>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace zipmpi::core {
namespace {

constexpr uint32_t id_shift = 1;
constexpr uint32_t node_shift = 17;
constexpr uint32_t private_node = (1U << 14) - 1; // not a valid node number

uint32_t context_of(uint32_t id, uint32_t node) { return id << id_shift | node << node_shift; }
uint32_t id_of(uint32_t context) { return context >> id_shift & (wire::contexts - 1); }
uint32_t node_of(uint32_t context) { return context >> node_shift & ((1U << 14) - 1); }

// Ids of communicators with one member, invisible to other processes.
class PrivateIds {
  public:
    uint32_t allocate() {
        if (free_.empty()) return next_ < wire::contexts ? next_++ : 0;
        const uint32_t id = free_.back();
        free_.pop_back();
        return id;
    }
    void release(uint32_t id) { free_.push_back(id); }

  private:
    std::vector<uint32_t> free_;
    uint32_t next_ = first_dynamic_id;
};
PrivateIds private_ids; // protected by the progress engine lock

// The lowest ids are allocated first to keep the number of used pages small. A page is reserved before it is
// accessed: reading a hole of the segment would allocate memory unchecked.
constexpr uint32_t ids_per_page = wire::page_size / sizeof(uint32_t);
std::bitset<wire::contexts / ids_per_page> reserved_pages; // by this process

bool reserve_page(uint32_t page) {
    if (reserved_pages[page]) return true;
    const segment::NodeSegment& segment = runtime()->segment;
    const uint64_t offset = segment.geometry().contexts_offset();
    if (!segment.reserve(offset + uint64_t{page} * wire::page_size, wire::page_size)) return false;
    reserved_pages[page] = true;
    return true;
}

// Allocates the first free id in [from, end); returns 0 if there is none.
uint32_t allocate_in_range(uint32_t from, uint32_t end, uint32_t holders) {
    std::atomic<uint32_t>* const pool = runtime()->segment.contexts().holders;
    for (uint32_t id = from; id < end; ++id) {
        if (!reserve_page(id / ids_per_page)) return 0;
        uint32_t free = 0;
        if (pool[id].load(std::memory_order_relaxed) == 0 &&
            pool[id].compare_exchange_strong(free, holders, std::memory_order_acq_rel))
            return id;
    }
    return 0;
}

} // namespace

bool is_context_in_use(uint32_t context) {
    static uint32_t wanted;
    static bool found;
    wanted = context;
    found = false;
    for_each_comm([](Comm& c) {
        found = found || c.team.context == wanted || (c.local != nullptr && c.local->context == wanted);
    });
    return found;
}

namespace {

uint32_t allocate_random() {
    constexpr uint32_t random_bits = wire::interjob_context_bit - (1U << id_shift);
    for (;;) {
        uint32_t bits = 0;
        std::memcpy(&bits, transport::stream::random_bytes(sizeof bits).data(), sizeof bits);
        const uint32_t context = wire::interjob_context_bit | (bits & random_bits);
        if (node_of(context) != private_node && id_of(context) >= first_dynamic_id &&
            !is_context_in_use(context))
            return context;
    }
}

} // namespace

uint32_t allocate_context(int holders) {
    if (holders == 1) {
        const uint32_t id = private_ids.allocate();
        return id != 0 ? context_of(id, private_node) : 0;
    }
    if (runtime()->interjob_network != nullptr) return allocate_random();
    std::atomic<uint32_t>& hint = runtime()->segment.contexts().hint;
    const uint32_t from = std::max(hint.load(std::memory_order_relaxed), first_dynamic_id);
    uint32_t id = allocate_in_range(from, wire::contexts, static_cast<uint32_t>(holders));
    if (id == 0) id = allocate_in_range(first_dynamic_id, from, static_cast<uint32_t>(holders));
    if (id == 0) return 0;
    hint.store(id + 1, std::memory_order_relaxed);
    return context_of(id, runtime()->segment.node());
}

namespace {

// Releases one holder of a context of this node. Values from other hosts may be invalid.
void decrement_holders(uint32_t context) {
    const uint32_t id = id_of(context);
    if (id < first_dynamic_id || node_of(context) != runtime()->segment.node() ||
        !reserve_page(id / ids_per_page) || runtime()->segment.contexts().holders[id].load() == 0)
        return;
    std::atomic<uint32_t>& hint = runtime()->segment.contexts().hint;
    if (runtime()->segment.contexts().holders[id].fetch_sub(1, std::memory_order_acq_rel) == 1 &&
        id < hint.load(std::memory_order_relaxed))
        hint.store(id, std::memory_order_relaxed); // a race costs one search from the start
}

// The rank of the node to which this rank sends context releases; ranks of this node are spread over those of
// that node.
int release_rank_of_node(uint32_t node) {
    static std::unordered_map<uint32_t, int> found; // protected by the progress engine lock
    const auto cached = found.find(node);
    if (cached != found.end()) return cached->second;
    const Runtime& e = *runtime();
    std::vector<int> ranks;
    for (int r = 0; r < e.job.size; ++r)
        if (e.segment.node_of(r) == node) ranks.push_back(r);
    const int rank = ranks.empty() ? -1 : ranks[static_cast<size_t>(e.job.local_index) % ranks.size()];
    found.emplace(node, rank);
    return rank;
}

} // namespace

void track_remote_releases(proto::ProgressEngine& engine) {
    engine.dispatcher().set_on_context_release(decrement_holders);
}

void release_context(uint32_t context) {
    const uint32_t id = id_of(context);
    if (id < first_dynamic_id) return; // a predefined communicator, or one that never got a context
    if (node_of(context) == private_node) return private_ids.release(id);
    if (node_of(context) == runtime()->segment.node()) return decrement_holders(context);
    if (const int rank = release_rank_of_node(node_of(context)); rank >= 0)
        progress_engine().control().notify_context(rank, wire::MessageKind::context_release, context);
}

bool is_throttle_point(uint32_t context) {
    constexpr uint32_t interval = 1024;
    return node_of(context) < runtime()->segment.nodes() && id_of(context) % interval == 0;
}

Err context_exhausted() {
    return fail(Err::other, "free communicators that are no longer needed",
                "all %u context ids of this node are in use", wire::contexts - first_dynamic_id);
}

} // namespace zipmpi::core
