// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "process_queues.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace zipmpi::msgq {
namespace {

constexpr size_t most_elements = 1U << 20;      // of a list
constexpr size_t most_bytes = size_t{64} << 20; // of an array

mqs_pending_operation empty_operation(uint32_t context) {
    mqs_pending_operation o;
    std::memset(&o, 0, sizeof o);
    o.status = mqs_st_pending;
    if ((context & 1U) != 0)
        std::snprintf(o.extra_text[0], sizeof o.extra_text[0], "part of a collective operation");
    return o;
}

} // namespace

template <class T>
T ProcessQueues::value_at(const Bytes& bytes, size_t offset) {
    T value{};
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[offset], sizeof value);
    return value;
}

bool ProcessQueues::read_bytes(uint64_t address, size_t size, Bytes& to) const {
    if (address == 0 || size > most_bytes) return false;
    to.resize(size);
    return size == 0 || fetch_(address, size, to.data());
}

bool ProcessQueues::read_array(uint64_t at, Bytes& to) const {
    uint64_t ends[2] = {};
    if (!fetch_(at, sizeof ends, ends) || ends[1] < ends[0]) return false;
    if (ends[0] == ends[1]) to.clear();
    return ends[0] == ends[1] || read_bytes(ends[0], ends[1] - ends[0], to);
}

bool ProcessQueues::read_layout() {
    layout_ = {};
    if (!fetch_(layout_at_, sizeof layout_, &layout_)) return false;
    if (std::memcmp(layout_.version, wire::queue_layout_version, sizeof layout_.version) == 0) return true;
    layout_ = {};
    return false;
}

void ProcessQueues::read_communicators() {
    comms_.clear();
    Bytes chunks;
    if (!read_array(layout_.comms, chunks)) return;
    for (size_t c = 0; c + sizeof(uint64_t) <= chunks.size(); c += sizeof(uint64_t)) {
        const auto chunk = value_at<uint64_t>(chunks, c);
        for (uint32_t i = 0; i < layout_.comms_per_chunk; ++i) {
            Bytes bytes;
            if (!read_bytes(chunk + uint64_t{i} * layout_.comm.bytes, layout_.comm.bytes, bytes)) break;
            if (value_at<uint32_t>(bytes, layout_.comm.kind) == layout_.comm_kind) add_communicator(bytes);
        }
    }
}

void ProcessQueues::add_communicator(const Bytes& bytes) {
    const auto& at = layout_.comm;
    Comm comm{{},
              value_at<uint32_t>(bytes, at.context),
              value_at<int32_t>(bytes, at.first),
              value_at<int32_t>(bytes, at.stride),
              0};
    comm.shown.unique_id = comm.context;
    comm.shown.local_rank = value_at<int32_t>(bytes, at.rank);
    comm.shown.size = value_at<int32_t>(bytes, at.size);
    if (const auto table = value_at<uint64_t>(bytes, at.table); table != 0)
        fetch_(table, sizeof comm.table, &comm.table);
    const auto name = value_at<uint64_t>(bytes, at.name);
    for (size_t i = 0; name != 0 && i + 1 < sizeof comm.shown.name; ++i) // up to the end of mapped memory
        if (!fetch_(name + i, 1, &comm.shown.name[i]) || comm.shown.name[i] == '\0') break;
    if (comm.shown.name[0] == '\0')
        std::snprintf(comm.shown.name, sizeof comm.shown.name, "communicator %u", comm.context);
    comms_.push_back(comm);
}

int ProcessQueues::world_rank(const Comm& comm, int rank) const {
    if (rank < 0) return -1;
    if (comm.table == 0) return comm.first + comm.stride * rank;
    int32_t world = -1;
    if (rank < comm.shown.size)
        fetch_(comm.table + static_cast<uint64_t>(rank) * sizeof world, sizeof world, &world);
    return world;
}

bool ProcessQueues::read_group(size_t i, int* world_ranks) const {
    const Comm& comm = comms_[i];
    for (int r = 0; r < comm.shown.size; ++r) world_ranks[r] = world_rank(comm, r);
    return std::all_of(world_ranks, world_ranks + comm.shown.size, [](int r) { return r >= 0; });
}

// Collective operations have the odd context.
bool ProcessQueues::is_of(const Comm& comm, uint32_t context) const {
    return (context & ~1U) == comm.context;
}

mqs_pending_operation ProcessQueues::describe_receive(const Comm& comm, const Bytes& bytes) const {
    const auto& at = layout_.operation;
    mqs_pending_operation o = empty_operation(value_at<uint32_t>(bytes, at.context));
    const auto source = value_at<int32_t>(bytes, at.source);
    const auto tag = value_at<int32_t>(bytes, at.tag);
    o.desired_local_rank = source == wire::queue_any_source ? -1 : source;
    o.desired_global_rank = world_rank(comm, source);
    o.tag_wild = tag == wire::queue_any_tag ? 1 : 0;
    o.desired_tag = o.tag_wild != 0 ? 0 : tag;
    o.desired_length = static_cast<mqs_tword_t>(value_at<uint64_t>(bytes, at.length));
    o.buffer = value_at<uint64_t>(bytes, at.buffer);
    return o;
}

// `heads`: address of begin and end of an array of pointers to the first receives of queues.
void ProcessQueues::read_posted(const Comm& comm, uint64_t heads, Chained chained,
                                std::multimap<uint64_t, mqs_pending_operation>& by_order) const {
    const auto& at = layout_.operation;
    Bytes buckets, op;
    size_t seen = 0;
    if (!read_array(heads, buckets)) return;
    for (size_t b = 0; b + sizeof(uint64_t) <= buckets.size(); b += sizeof(uint64_t))
        for (auto head = value_at<uint64_t>(buckets, b), chain = uint64_t{0}; head != 0; head = chain) {
            chain = 0;
            for (uint64_t next = head; next != 0 && ++seen < most_elements;) {
                if (!read_bytes(next, at.bytes, op)) break;
                if (next == head && chained == Chained::yes) chain = value_at<uint64_t>(op, at.chain);
                if (is_of(comm, value_at<uint32_t>(op, at.context)))
                    by_order.emplace(value_at<uint64_t>(op, at.order), describe_receive(comm, op));
                next = value_at<uint64_t>(op, at.next);
            }
            if (seen >= most_elements) break;
        }
}

std::vector<mqs_pending_operation> ProcessQueues::posted_receives(const Comm& comm) const {
    std::multimap<uint64_t, mqs_pending_operation> by_order;
    read_posted(comm, layout_.posted, Chained::yes, by_order); // older than exact ones of the same order
    read_posted(comm, layout_.exact, Chained::no, by_order);
    std::vector<mqs_pending_operation> list;
    list.reserve(by_order.size());
    for (const auto& [order, operation] : by_order) list.push_back(operation);
    return list;
}

// Operations that the other side will name in a message: sends that are not matched yet, receives whose data
// arrives.
std::vector<mqs_pending_operation> ProcessQueues::in_flight(const Comm& comm, uint8_t kind) const {
    const auto& at = layout_.operation;
    std::vector<mqs_pending_operation> list;
    Bytes slots, op;
    if (layout_.slot_bytes == 0 || !read_array(layout_.in_flight, slots)) return list;
    for (size_t i = 0; i + layout_.slot_bytes <= slots.size(); i += layout_.slot_bytes) {
        const auto address = value_at<uint64_t>(slots, i);
        if (address == 0 || !read_bytes(address, at.bytes, op) || value_at<uint8_t>(op, at.kind) != kind ||
            !is_of(comm, value_at<uint32_t>(op, at.context)))
            continue;
        mqs_pending_operation o = describe_receive(comm, op);
        if (kind == layout_.send_kind) {
            o.desired_local_rank = value_at<int32_t>(op, at.peer);
            o.desired_global_rank = value_at<int32_t>(op, at.world_peer);
        } else {
            o.status = mqs_st_matched;
            o.actual_local_rank = value_at<int32_t>(op, at.matched_source);
            o.actual_global_rank = world_rank(comm, value_at<int32_t>(op, at.matched_source));
            o.actual_tag = value_at<int32_t>(op, at.matched_tag);
            o.actual_length = o.desired_length;
        }
        list.push_back(o);
    }
    return list;
}

std::vector<mqs_pending_operation> ProcessQueues::unexpected(const Comm& comm) const {
    const auto& at = layout_.message;
    std::vector<mqs_pending_operation> list;
    Bytes message;
    uint64_t next = 0;
    fetch_(layout_.unexpected, sizeof next, &next);
    for (size_t seen = 0; next != 0 && seen < most_elements; ++seen) {
        if (!read_bytes(next, at.bytes, message)) break;
        next = value_at<uint64_t>(message, at.next);
        const auto context = value_at<uint32_t>(message, at.context);
        if (!is_of(comm, context)) continue;
        mqs_pending_operation o = empty_operation(context);
        const auto source = value_at<int32_t>(message, at.source);
        o.status = mqs_st_matched; // by nothing yet, but its data is known
        o.system_buffer = 1;
        o.buffer = value_at<uint64_t>(message, at.data);
        o.desired_local_rank = o.actual_local_rank = source;
        o.desired_global_rank = o.actual_global_rank = world_rank(comm, source);
        o.desired_tag = o.actual_tag = value_at<int32_t>(message, at.tag);
        o.desired_length = o.actual_length = static_cast<mqs_tword_t>(value_at<uint64_t>(message, at.length));
        list.push_back(o);
    }
    return list;
}

std::vector<mqs_pending_operation> ProcessQueues::operations(size_t i, mqs_op_class wanted) const {
    const Comm& comm = comms_[i];
    if (wanted == mqs_unexpected_messages) return unexpected(comm);
    if (wanted == mqs_pending_sends) return in_flight(comm, layout_.send_kind);
    std::vector<mqs_pending_operation> list = in_flight(comm, layout_.recv_kind);
    const std::vector<mqs_pending_operation> posted = posted_receives(comm);
    list.insert(list.end(), posted.begin(), posted.end());
    return list;
}

} // namespace zipmpi::msgq
