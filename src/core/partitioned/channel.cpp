// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/partitioned/channel.hpp"

#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <new>

namespace zipmpi::core {
namespace {

// Channels that exist at the same time use different tags, unless 2^31 partitions were created in between.
int allocate_tags(Comm& comm, int n) {
    if (comm.partition_tags > static_cast<uint32_t>(tag_max - n)) comm.partition_tags = 0;
    const uint32_t first = comm.partition_tags;
    comm.partition_tags += static_cast<uint32_t>(n);
    return static_cast<int>(first);
}

} // namespace

PartitionedChannel::PartitionedChannel(Request& whole, void* buffer, int partitions, uint64_t partition_bytes)
    : request_(whole)
    , buffer_(static_cast<std::byte*>(buffer))
    , partitions_(partitions)
    , partition_bytes_(partition_bytes) {
    setup_.parent = &whole;
}

void PartitionedChannel::open() {
    const proto::Team& team = request_.comm->team;
    auto& op = static_cast<proto::Operation&>(setup_);
    if (sends()) {
        description_ = {total_bytes(), partitions_, allocate_tags(*request_.comm, partitions_)};
        apply_description();
        op = proto::make_send(team, &description_, sizeof description_, request_.peer, request_.tag);
    } else {
        op = proto::make_recv(team, &description_, sizeof description_, request_.peer, request_.tag);
        op.on_done = on_description;
    }
    op.context |= proto::partitioned_context;
    start_operation(setup_);
}

void PartitionedChannel::on_description(proto::Operation& op) {
    Request& whole = *static_cast<SubOperation&>(op).parent;
    auto& channel = static_cast<PartitionedChannel&>(*whole.compound);
    channel.apply_description();
    if (whole.active) channel.post_receives();
}

// Afterwards the number and length of messages are known, or the channel has failed.
void PartitionedChannel::apply_description() {
    error_ = check_description();
    if (error_ != Err::success) return;
    operations_.reset(new (std::nothrow) SubOperation[static_cast<size_t>(description_.partitions)]);
    if (operations_ == nullptr) {
        error_ = fail(Err::no_mem, "use fewer partitions", "no memory for the state of %d partitions",
                      description_.partitions);
        return;
    }
    messages_ = description_.partitions;
    message_bytes_ = description_.bytes / static_cast<uint64_t>(messages_);
}

Err PartitionedChannel::check_description() const {
    const ChannelDescription& d = description_;
    if (d.partitions < 1 || d.first_tag < 0 || d.bytes % static_cast<uint64_t>(d.partitions) != 0)
        return fail(Err::intern, "report this as a bug", "the description of a partitioned send is invalid");
    if (d.bytes > total_bytes())
        return fail(Err::truncate, "use equal total sizes for partitioned send and receive",
                    "rank %d sends %llu bytes, the receive buffer has %llu", request_.peer,
                    static_cast<unsigned long long>(d.bytes), static_cast<unsigned long long>(total_bytes()));
    return Err::success;
}

proto::Operation PartitionedChannel::make_message(int index) const {
    const proto::Team& team = request_.comm->team;
    const uint64_t first = static_cast<uint64_t>(index) * message_bytes_;
    std::byte* const bytes = request_.layout == nullptr ? buffer_ + first : buffer_;
    const int tag = description_.first_tag + index;
    proto::Operation op = sends() ? proto::make_send(team, bytes, message_bytes_, request_.peer, tag)
                                  : proto::make_recv(team, bytes, message_bytes_, request_.peer, tag);
    op.layout = request_.layout;
    op.elements = request_.elements;
    op.first_byte = first;
    op.context = (team.context + 1) | proto::partitioned_context;
    op.on_done = on_message;
    return op;
}

void PartitionedChannel::start() {
    if (!sends()) {
        request_.matched_source = request_.peer;
        request_.matched_tag = request_.tag;
        if (setup_.done()) post_receives();
        return;
    }
    if (error_ != Err::success) return complete_failed();
    pending_ = messages_;
    for (int i = 0; i < messages_; ++i)
        operations_[static_cast<size_t>(i)].kind = proto::Operation::Kind::none;
}

void PartitionedChannel::complete_failed() {
    request_.error = error_;
    complete_request(request_);
}

void PartitionedChannel::post_receives() {
    if (error_ != Err::success) return complete_failed();
    pending_ = messages_ + 1; // the last one is this function, so that the channel outlives the loop
    for (int i = 0; i < messages_; ++i) {
        SubOperation& operation = operations_[static_cast<size_t>(i)];
        static_cast<proto::Operation&>(operation) = make_message(i);
        operation.parent = &request_;
    }
    for (int i = 0; i < messages_; ++i) progress_engine().start_recv(operations_[static_cast<size_t>(i)]);
    if (--pending_ == 0) complete_request(request_);
}

Err PartitionedChannel::ready(int partition) {
    if (partition < 0 || partition >= partitions_)
        return fail(Err::arg, "pass a partition number from 0 to the number of partitions minus 1",
                    "partition %d of %d does not exist", partition, partitions_);
    SubOperation& operation = operations_[static_cast<size_t>(partition)];
    if (operation.kind != proto::Operation::Kind::none)
        return fail(Err::arg, "mark each partition once between start and completion",
                    "partition %d is already marked ready", partition);
    if (copies != nullptr)
        if (const Err e = copies->load_partition(partition); e != Err::success) return e;
    static_cast<proto::Operation&>(operation) = make_message(partition);
    operation.parent = &request_;
    progress_engine().start_send(operation);
    return Err::success;
}

void PartitionedChannel::on_message(proto::Operation& op) {
    static_cast<PartitionedChannel&>(*static_cast<SubOperation&>(op).parent->compound).message_done(op);
}

void PartitionedChannel::message_done(const proto::Operation& op) {
    request_.received += op.received;
    if (op.error != Err::success) request_.error = op.error;
    if (--pending_ == 0) complete_request(request_);
}

bool PartitionedChannel::arrived(int partition) const {
    if (request_.done() || messages_ == 0 || message_bytes_ == 0 || partition_bytes_ == 0)
        return request_.done();
    const uint64_t begin = partition_bytes_ * static_cast<uint64_t>(partition);
    const uint64_t end = std::min(begin + partition_bytes_, description_.bytes);
    for (uint64_t at = begin / message_bytes_; at * message_bytes_ < end; ++at)
        if (!operations_[at].done()) return false;
    return true;
}

const proto::Operation* PartitionedChannel::pending_operation() const {
    for (int i = 0; i < messages_; ++i) {
        const SubOperation& operation = operations_[static_cast<size_t>(i)];
        if (operation.kind != proto::Operation::Kind::none && !operation.done()) return &operation;
    }
    return setup_.done() ? static_cast<const proto::Operation*>(&request_) : &setup_;
}

// Peers match channels by their order: an announced description must be sent or received.
bool PartitionedChannel::defer_destroy() {
    if (setup_.done()) return false;
    setup_.on_done = [](proto::Operation& op) { destroy(*static_cast<SubOperation&>(op).parent); };
    return true;
}

} // namespace zipmpi::core
