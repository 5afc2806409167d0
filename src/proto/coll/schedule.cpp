// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/schedule.hpp"

namespace zipmpi::proto::coll {

// Messages of a subteam carry the ranks of the whole team.
void Schedule::add(const Team& team, const Operation& op, Step::Kind kind) {
    ScheduledMessage& m = messages_.emplace_back();
    static_cast<Operation&>(m) = op;
    m.context = op.context + 1;
    if (team.scope != Team::TeamScope::whole) {
        m.source = team.parent_ranks.world(op.source);
        m.peer = team.parent_ranks.world(op.peer);
    }
    steps_.push_back({kind, static_cast<uint32_t>(messages_.size() - 1), nullptr, nullptr, 0, nullptr});
}

void Schedule::send(const Team& team, const void* data, size_t bytes, int to) {
    add(team, make_send(team, data, bytes, to, tag_for(team)), Step::Kind::send);
}

void Schedule::recv(const Team& team, void* data, size_t bytes, int from) {
    add(team, make_recv(team, data, bytes, from, tag_for(team)), Step::Kind::recv);
}

uint32_t Schedule::open_last() {
    messages_.back().open = true;
    return static_cast<uint32_t>(messages_.size() - 1);
}

uint32_t Schedule::open_send(const Team& team, int to) {
    send(team, nullptr, 0, to);
    return open_last();
}

uint32_t Schedule::open_recv(const Team& team, int from) {
    recv(team, nullptr, 0, from);
    return open_last();
}

void Schedule::fill(uint32_t message, std::byte* data, size_t bytes) {
    messages_[message].buffer = data;
    messages_[message].bytes = bytes;
}

void Schedule::copy(void* to, const void* from, size_t bytes) {
    if (bytes != 0 && to != from)
        steps_.push_back({Step::Kind::copy, 0, from, to, static_cast<int64_t>(bytes), nullptr});
}

void Schedule::combine(const void* in, void* inout, int64_t count) {
    steps_.push_back({Step::Kind::combine, 0, in, inout, count, nullptr});
}

void Schedule::call(Err (*function)(void*), void* argument) {
    steps_.push_back({Step::Kind::call, 0, nullptr, argument, 0, function});
}

void Schedule::wait() {
    if (!steps_.empty() && steps_.back().kind != Step::Kind::wait)
        steps_.push_back({Step::Kind::wait, 0, nullptr, nullptr, 0, nullptr});
}

std::byte* Schedule::scratch(size_t bytes) {
    std::byte* address = scratch_.allocate(bytes);
    if (address == nullptr)
        fail_build(fail(Err::no_mem, "use smaller counts or free memory",
                        "cannot allocate %zu bytes of scratch memory", bytes));
    return address;
}

void Schedule::clear_steps() {
    steps_.clear();
    messages_.clear();
}

} // namespace zipmpi::proto::coll
