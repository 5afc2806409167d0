// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/context.hpp"

#include "core/state.hpp"
#include "proto/p2p/lane.hpp"
#include "worlds/handshake.hpp"

#include <bitset>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace zipmpi::core {
namespace {

constexpr uint32_t id_shift = 1;
constexpr uint32_t node_shift = 17;
constexpr uint32_t private_node = (1U << 14) - 1; // no node has this number

uint32_t context_of(uint32_t id, uint32_t node) { return id << id_shift | node << node_shift; }
uint32_t id_of(uint32_t context) { return context >> id_shift & (wire::contexts - 1); }
uint32_t node_of(uint32_t context) { return context >> node_shift & ((1U << 14) - 1); }

// Ids of communicators with one member: seen by no other process.
class PrivateIds {
  public:
    uint32_t draw() {
        if (free_.empty()) return next_ < wire::contexts ? next_++ : 0;
        const uint32_t id = free_.back();
        free_.pop_back();
        return id;
    }
    void give_back(uint32_t id) { free_.push_back(id); }

  private:
    std::vector<uint32_t> free_;
    uint32_t next_ = first_drawn_id;
};
PrivateIds private_ids; // under the engine lock

// The lowest ids are drawn first, so the pages in use are few. A page is reserved before it is looked at:
// reading a hole of the segment would make memory out of nothing.
constexpr uint32_t ids_per_page = wire::page_size / sizeof(uint32_t);
std::bitset<wire::contexts / ids_per_page> reserved_pages; // by this process

bool reserve_page(uint32_t page) {
    if (reserved_pages[page]) return true;
    const boot::NodeSegment& segment = engine()->segment;
    const uint64_t offset = segment.geometry().contexts_offset();
    if (!segment.reserve(offset + uint64_t{page} * wire::page_size, wire::page_size)) return false;
    reserved_pages[page] = true;
    return true;
}

// The first free id from `from` up to `end`, taken; 0 if there is none.
uint32_t take_between(uint32_t from, uint32_t end, uint32_t holders) {
    std::atomic<uint32_t>* const pool = engine()->segment.context_holders();
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

namespace {

bool in_use(uint32_t context) {
    static uint32_t wanted;
    static bool found;
    wanted = context;
    found = false;
    for_each_comm([](Comm& c) {
        found = found || c.team.context == wanted || (c.local != nullptr && c.local->context == wanted);
    });
    return found;
}

uint32_t draw_at_random() {
    constexpr uint32_t highest_bit = 1U << 30;
    constexpr uint32_t drawn_bits = highest_bit - (1U << id_shift);
    for (;;) {
        uint32_t bits = 0;
        std::memcpy(&bits, worlds::random_bytes(sizeof bits).data(), sizeof bits);
        const uint32_t context = highest_bit | (bits & drawn_bits);
        if (node_of(context) != private_node && id_of(context) >= first_drawn_id && !in_use(context))
            return context;
    }
}

} // namespace

uint32_t draw_context(int holders) {
    if (holders == 1) {
        const uint32_t id = private_ids.draw();
        return id != 0 ? context_of(id, private_node) : 0;
    }
    if (engine()->worlds != nullptr) return draw_at_random();
    std::atomic<uint32_t>& hint = engine()->segment.context_hint();
    const uint32_t from = std::max(hint.load(std::memory_order_relaxed), first_drawn_id);
    uint32_t id = take_between(from, wire::contexts, static_cast<uint32_t>(holders));
    if (id == 0) id = take_between(first_drawn_id, from, static_cast<uint32_t>(holders));
    if (id == 0) return 0;
    hint.store(id + 1, std::memory_order_relaxed);
    return context_of(id, engine()->segment.node());
}

namespace {

// One holder less, of a context of this node. What comes from another host may be nonsense.
void count_down(uint32_t context) {
    const uint32_t id = id_of(context);
    if (id < first_drawn_id || node_of(context) != engine()->segment.node() ||
        !reserve_page(id / ids_per_page) || engine()->segment.context_holders()[id].load() == 0)
        return;
    std::atomic<uint32_t>& hint = engine()->segment.context_hint();
    if (engine()->segment.context_holders()[id].fetch_sub(1, std::memory_order_acq_rel) == 1 &&
        id < hint.load(std::memory_order_relaxed))
        hint.store(id, std::memory_order_relaxed); // a race costs one search from the start
}

// A rank of the node that hears for it what is given back by this rank: ranks of this node spread over those
// of that one.
int rank_that_counts(uint32_t node) {
    static std::unordered_map<uint32_t, int> found; // under the engine lock
    const auto known = found.find(node);
    if (known != found.end()) return known->second;
    const Engine& e = *engine();
    std::vector<int> ranks;
    for (int r = 0; r < e.job.size; ++r)
        if (e.segment.node_of(r) == node) ranks.push_back(r);
    const int rank = ranks.empty() ? -1 : ranks[static_cast<size_t>(e.job.local_index) % ranks.size()];
    found.emplace(node, rank);
    return rank;
}

} // namespace

void count_contexts_given_back(proto::Lane& lane) { lane.set_on_give_back(count_down); }

void give_back_context(uint32_t context) {
    const uint32_t id = id_of(context);
    if (id < first_drawn_id) return; // a predefined communicator, or one that never got a context
    if (node_of(context) == private_node) return private_ids.give_back(id);
    if (node_of(context) == engine()->segment.node()) return count_down(context);
    if (const int rank = rank_that_counts(node_of(context)); rank >= 0)
        lane().tell_of_context(rank, wire::Kind::give_back, context);
}

bool is_milestone(uint32_t context) {
    constexpr uint32_t apart = 1024;
    return node_of(context) < engine()->segment.nodes() && id_of(context) % apart == 0;
}

Err no_context() {
    return fail(Err::other, "free communicators that are no longer needed",
                "all %u context ids of this node are in use", wire::contexts - first_drawn_id);
}

} // namespace zipmpi::core
