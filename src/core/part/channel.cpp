// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/part/channel.hpp"

#include "proto/p2p/lane.hpp"

#include <algorithm>
#include <new>

namespace zipmpi::core {
namespace {

// Tags of messages are never used twice by channels that live at the same time, unless 2^31 partitions were
// made in between.
int draw_tags(Comm& comm, int n) {
    if (comm.partition_tags > static_cast<uint32_t>(tag_max - n)) comm.partition_tags = 0;
    const uint32_t first = comm.partition_tags;
    comm.partition_tags += static_cast<uint32_t>(n);
    return static_cast<int>(first);
}

} // namespace

Channel::Channel(Request& whole, void* buffer, int partitions, uint64_t partition_bytes)
    : whole_(whole)
    , buffer_(static_cast<std::byte*>(buffer))
    , partitions_(partitions)
    , partition_bytes_(partition_bytes) {
    setup_.whole = &whole;
}

void Channel::open() {
    const proto::Team& team = whole_.comm->team;
    auto& op = static_cast<proto::Operation&>(setup_);
    if (sends()) {
        description_ = {total_bytes(), partitions_, draw_tags(*whole_.comm, partitions_)};
        take_description();
        op = proto::make_send(team, &description_, sizeof description_, whole_.peer, whole_.tag);
    } else {
        op = proto::make_recv(team, &description_, sizeof description_, whole_.peer, whole_.tag);
        op.on_done = on_description;
    }
    op.context |= proto::partitioned_context;
    start_operation(setup_);
}

void Channel::on_description(proto::Operation& op) {
    Request& whole = *static_cast<Part&>(op).whole;
    auto& channel = static_cast<Channel&>(*whole.compound);
    channel.take_description();
    if (whole.active) channel.post_receives();
}

// From here on the number and length of messages are known, or the channel is broken.
void Channel::take_description() {
    broken_ = check_description();
    if (broken_ != Err::success) return;
    parts_.reset(new (std::nothrow) Part[static_cast<size_t>(description_.partitions)]);
    if (parts_ == nullptr) {
        broken_ = fail(Err::no_mem, "use fewer partitions", "no memory for the state of %d partitions",
                       description_.partitions);
        return;
    }
    messages_ = description_.partitions;
    message_bytes_ = description_.bytes / static_cast<uint64_t>(messages_);
}

Err Channel::check_description() const {
    const ChannelDescription& d = description_;
    if (d.partitions < 1 || d.first_tag < 0 || d.bytes % static_cast<uint64_t>(d.partitions) != 0)
        return fail(Err::intern, "report this", "the description of a partitioned send makes no sense");
    if (d.bytes > total_bytes())
        return fail(Err::truncate, "give partitioned send and receive the same number of bytes in all",
                    "rank %d sends %llu bytes, the receive buffer has %llu", whole_.peer,
                    static_cast<unsigned long long>(d.bytes), static_cast<unsigned long long>(total_bytes()));
    return Err::success;
}

proto::Operation Channel::message(int index) const {
    const proto::Team& team = whole_.comm->team;
    const uint64_t first = static_cast<uint64_t>(index) * message_bytes_;
    std::byte* const bytes = whole_.layout == nullptr ? buffer_ + first : buffer_;
    const int tag = description_.first_tag + index;
    proto::Operation op = sends() ? proto::make_send(team, bytes, message_bytes_, whole_.peer, tag)
                                  : proto::make_recv(team, bytes, message_bytes_, whole_.peer, tag);
    op.layout = whole_.layout;
    op.elements = whole_.elements;
    op.first_byte = first;
    op.context = (team.context + 1) | proto::partitioned_context;
    op.on_done = on_message;
    return op;
}

void Channel::start() {
    if (!sends()) {
        whole_.matched_source = whole_.peer;
        whole_.matched_tag = whole_.tag;
        if (setup_.done()) post_receives();
        return;
    }
    if (broken_ != Err::success) return complete_broken();
    waiting_ = messages_;
    for (int i = 0; i < messages_; ++i) parts_[static_cast<size_t>(i)].kind = proto::Operation::Kind::none;
}

void Channel::complete_broken() {
    whole_.error = broken_;
    complete_whole(whole_);
}

void Channel::post_receives() {
    if (broken_ != Err::success) return complete_broken();
    waiting_ = messages_ + 1; // the last of these is this function, so that the channel outlives the loop
    for (int i = 0; i < messages_; ++i) {
        Part& part = parts_[static_cast<size_t>(i)];
        static_cast<proto::Operation&>(part) = message(i);
        part.whole = &whole_;
    }
    for (int i = 0; i < messages_; ++i) lane().start_recv(parts_[static_cast<size_t>(i)]);
    if (--waiting_ == 0) complete_whole(whole_);
}

Err Channel::ready(int partition) {
    if (partition < 0 || partition >= partitions_)
        return fail(Err::arg, "pass a partition from 0 to one less than their number",
                    "partition %d of %d does not exist", partition, partitions_);
    Part& part = parts_[static_cast<size_t>(partition)];
    if (part.kind != proto::Operation::Kind::none)
        return fail(Err::arg, "mark each partition once between start and completion",
                    "partition %d is marked as ready already", partition);
    static_cast<proto::Operation&>(part) = message(partition);
    part.whole = &whole_;
    lane().start_send(part);
    return Err::success;
}

void Channel::on_message(proto::Operation& op) {
    static_cast<Channel&>(*static_cast<Part&>(op).whole->compound).message_done(op);
}

void Channel::message_done(const proto::Operation& op) {
    whole_.received += op.received;
    if (op.error != Err::success) whole_.error = op.error;
    if (--waiting_ == 0) complete_whole(whole_);
}

bool Channel::arrived(int partition) const {
    if (whole_.done() || messages_ == 0 || message_bytes_ == 0 || partition_bytes_ == 0) return whole_.done();
    const uint64_t begin = partition_bytes_ * static_cast<uint64_t>(partition);
    const uint64_t end = std::min(begin + partition_bytes_, description_.bytes);
    for (uint64_t at = begin / message_bytes_; at * message_bytes_ < end; ++at)
        if (!parts_[at].done()) return false;
    return true;
}

const proto::Operation* Channel::shown() const {
    for (int i = 0; i < messages_; ++i) {
        const Part& part = parts_[static_cast<size_t>(i)];
        if (part.kind != proto::Operation::Kind::none && !part.done()) return &part;
    }
    return setup_.done() ? static_cast<const proto::Operation*>(&whole_) : &setup_;
}

// The peer matches channels by their order: a description that was announced must be sent, or received.
bool Channel::destroys_later() {
    if (setup_.done()) return false;
    setup_.on_done = [](proto::Operation& op) { destroy(*static_cast<Part&>(op).whole); };
    return true;
}

} // namespace zipmpi::core
