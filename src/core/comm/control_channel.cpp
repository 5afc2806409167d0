// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm/control_channel.hpp"

#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

#include <climits>

namespace zipmpi::core {
namespace {

constexpr uint32_t collective_bit = 1;

int negative_tag(int tag) {
    const int shifted = INT_MIN + tag;
    return shifted == any_tag ? shifted + 1 : shifted;
}

// Different texts have different tags, except with probability 2^-31.
int tag_of(const char* text) {
    uint32_t hash = 2166136261U; // FNV-1a
    for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619U;
    return static_cast<int>(hash & INT_MAX);
}

} // namespace

ControlChannel::ControlChannel(const proto::Team& team, int tag)
    : team_(team)
    , tag_(negative_tag(tag)) {
    team_.context |= collective_bit;
}

ControlChannel ControlChannel::collective(proto::Team& team) {
    ControlChannel channel(team, 0);
    channel.tag_ = proto::collective_tag(++team.collectives);
    return channel;
}

ControlChannel ControlChannel::without_comm(const char* text) {
    Runtime& e = *runtime();
    const proto::Team job{
        e.progress_engine.get(), creation_context, e.job.rank, e.job.size, proto::RankMap(0), 0};
    return {job, tag_of(text)};
}

proto::Operation ControlChannel::outgoing(int to, const void* data, size_t bytes) const {
    return proto::make_send(team_, data, bytes, to, tag_);
}

proto::Operation ControlChannel::incoming(int from, void* data, size_t bytes) const {
    return proto::make_recv(team_, data, bytes, from, tag_);
}

Err ControlChannel::run(proto::Operation op) const {
    op.kind == proto::Operation::Kind::send ? progress_engine().start_send(op)
                                            : progress_engine().start_recv(op);
    proto::wait_for(progress_engine(), op);
    return op.error;
}

Err ControlChannel::send(int to, const void* data, size_t bytes) const {
    return run(outgoing(to, data, bytes));
}
Err ControlChannel::recv(int from, void* data, size_t bytes) const {
    return run(incoming(from, data, bytes));
}

Err ControlChannel::sendrecv(int to, const void* out, size_t out_bytes, int from, void* in,
                             size_t in_bytes) const {
    proto::Operation s = outgoing(to, out, out_bytes);
    proto::Operation r = incoming(from, in, in_bytes);
    return proto::exchange(progress_engine(), r, s);
}

Err ControlChannel::broadcast(const std::vector<int>& ranks, int own_index, void* data, size_t bytes) const {
    const int n = static_cast<int>(ranks.size());
    int bit = 1;
    while (bit < n && (own_index & bit) == 0) bit *= 2; // the lowest bit set, in which the parent differs
    if (own_index != 0)
        if (const Err e = recv(ranks[static_cast<size_t>(own_index) - static_cast<size_t>(bit)], data, bytes);
            e != Err::success)
            return e;
    for (bit /= 2; bit > 0; bit /= 2)
        if (own_index + bit < n)
            if (const Err e =
                    send(ranks[static_cast<size_t>(own_index) + static_cast<size_t>(bit)], data, bytes);
                e != Err::success)
                return e;
    return Err::success;
}

} // namespace zipmpi::core
