// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/member_messages.hpp"

#include "core/p2p/p2p.hpp"

#include <climits>
#include <utility>

namespace zipmpi::core {

void MemberMessages::begin(uint32_t number, std::function<void()> done) {
    constexpr uint32_t numbers = 0x3fffffffU;
    tag_ = INT_MIN + static_cast<int>(number & numbers);
    messages_.clear();
    done_ = std::move(done);
    pending_ = 1;
}

void MemberMessages::send_to(int position, const void* data, size_t bytes) {
    Message& m = add(position, const_cast<void*>(data), bytes);
    m.kind = proto::Operation::Kind::send;
    m.source = members_.own_position();
}

void MemberMessages::receive_from(int position, void* data, size_t bytes) {
    Message& m = add(position, data, bytes);
    m.kind = proto::Operation::Kind::recv;
    m.source = position;
}

MemberMessages::Message& MemberMessages::add(int position, void* data, size_t bytes) {
    Message& m = messages_.emplace_back();
    m.context = context_ | proto::partitioned_context | 1U;
    m.tag = tag_;
    m.peer = position;
    m.world_peer = members_.rank_at(position);
    m.buffer = static_cast<std::byte*>(data);
    m.bytes = bytes;
    m.owner = this;
    m.on_done = [](proto::Operation& done) { static_cast<Message&>(done).owner->message_done(); };
    return m;
}

void MemberMessages::launch() {
    pending_ += static_cast<int>(messages_.size());
    for (Message& m : messages_) start_operation(m);
    message_done();
}

void MemberMessages::message_done() {
    if (--pending_ != 0) return;
    const std::function<void()> done = std::move(done_); // it may begin other messages
    done();
}

Err MemberMessages::first_error() const {
    for (const Message& m : messages_)
        if (m.error != Err::success) return m.error;
    return Err::success;
}

std::vector<int> MemberMessages::received_from() const {
    std::vector<int> positions;
    for (const Message& m : messages_)
        if (m.kind == proto::Operation::Kind::recv && m.error == Err::success) positions.push_back(m.peer);
    return positions;
}

const proto::Operation* MemberMessages::pending_operation() const {
    for (const Message& m : messages_)
        if (pending_ > 0 && !m.done()) return &m;
    return nullptr;
}

} // namespace zipmpi::core
