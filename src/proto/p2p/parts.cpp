// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/parts.hpp"

#include "base/param.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

// Below, one part is as fast. In more and shorter parts each one costs more than is won.
constexpr uint64_t worth_parts = 4 * KiB;
constexpr uint64_t shortest_part = 2 * KiB;
constexpr uint64_t longest_part = 4 * KiB;
constexpr uint64_t parts_wanted = 4;

} // namespace

// False: nothing was sent, another way must be found.
bool Lane::send_in_parts(const Operation& op, transport::Peer peer) {
    if (op.layout == nullptr || op.synchronous || op.bytes < worth_parts || oversubscribed() ||
        op.bytes > limits(peer).gaps_at_once)
        return false;
    const uint64_t part = std::clamp(op.bytes / parts_wanted, shortest_part, longest_part);
    const uint64_t parts = (op.bytes + part - 1) / part;
    if (!shm_.room_for_bulks(peer, static_cast<uint32_t>(parts))) return false;
    const wire::Parts announced{op.bytes};
    wire::Envelope e{wire::Kind::eager, wire::flag_parts, 0, 0, op.context, op.source, op.tag, 0};
    for (uint64_t at = 0; at < op.bytes; at += part) {
        const Slice slice{op, at, std::min(part, op.bytes - at), parts};
        // There is room, so it is sent.
        static_cast<void>(shm_.send_bulk(peer, e, reinterpret_cast<const std::byte*>(&announced),
                                         sizeof announced, slice.bulk()));
        e.kind = wire::Kind::part;
    }
    return true;
}

void Lane::take_first_part(const transport::Arrival& a) {
    wire::Parts parts{};
    if (a.envelope.inline_bytes != sizeof parts || a.bulk == nullptr) return;
    std::memcpy(&parts, a.payload, sizeof parts);
    Arriving& in = arriving_[a.from];
    if (parts.bytes > longest_in_parts || a.bulk_bytes >= parts.bytes || in.more()) return;
    in = {parts.bytes, a.bulk_bytes, 0, nullptr};
    ++messages_arriving_;
    take_message({a.envelope, a.from, parts.bytes, a.bulk, a.bulk_bytes, 0, 0, 0, nullptr, nullptr, false});
}

// A receive has got the first parts of a message.
void Lane::await_parts(Operation& recv, const Incoming& message) {
    recv.wanted = recv.received;
    Arriving& in = arriving_[message.from];
    in.receiver = table_.add(recv);
    in.kept = nullptr;
}

void Lane::take_part(const transport::Arrival& a) {
    Arriving& in = arriving_[a.from];
    if (a.bulk == nullptr || a.bulk_bytes == 0 || a.bulk_bytes > in.bytes - in.moved) return;
    const uint64_t at = in.moved;
    in.moved += a.bulk_bytes;
    if (!in.more()) --messages_arriving_;
    if (in.kept != nullptr) return in.kept->append(a.bulk, a.bulk_bytes);
    Operation* const op = in.receiver != 0 ? named_by(a, in.receiver, Operation::Kind::recv) : nullptr;
    if (op == nullptr) return;
    if (at < op->wanted) store_payload(*op, at, a.bulk, std::min(a.bulk_bytes, op->wanted - at));
    if (in.more()) return;
    table_.remove(*op);
    finish(*op);
}

} // namespace zipmpi::proto
