// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The receiving half of a lane. Everything that comes from a peer is checked before it is used; what makes no
// sense is dropped.
#include "os/clock.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace zipmpi::proto {
namespace {

template <class T>
bool read_payload(const transport::Arrival& a, T& value) {
    if (a.envelope.inline_bytes != sizeof(T)) return false;
    std::memcpy(&value, a.payload, sizeof(T));
    return true;
}

Err too_long(const Incoming& message, const Operation& recv) {
    const bool collective = (message.envelope.context & 1U) != 0;
    if (collective)
        return fail(
            Err::truncate,
            "call the same collective with the same count and datatype on all ranks of the communicator",
            "rank %d has sent %llu bytes in this collective, this rank expects %llu", message.envelope.source,
            static_cast<unsigned long long>(message.bytes), static_cast<unsigned long long>(recv.bytes));
    return fail(Err::truncate,
                "make the receive buffer at least as long as the message, or probe for its length",
                "the message from rank %d with tag %d has %llu bytes, the receive buffer %llu",
                message.envelope.source, message.envelope.tag, static_cast<unsigned long long>(message.bytes),
                static_cast<unsigned long long>(recv.bytes));
}

// Long messages between hosts are the network's own business.
bool goes_between_hosts(wire::Kind kind) {
    return kind == wire::Kind::eager || kind == wire::Kind::ack || kind == wire::Kind::withdraw ||
           kind == wire::Kind::withdrawn || kind == wire::Kind::give_back || kind == wire::Kind::revoke;
}

} // namespace

void Lane::start_recv(Operation& op) {
    if (Unexpected* u = matcher_.find_unexpected(op.context, op.source, op.tag)) {
        accept(op, u->message);
        matcher_.discard(*u);
    } else {
        matcher_.post(op);
    }
}

void Lane::arrived(const transport::Arrival& a) {
    if (is_remote(a.from) && !goes_between_hosts(a.envelope.kind)) return;
    switch (a.envelope.kind) {
    case wire::Kind::eager: {
        const uint64_t bytes = a.bulk != nullptr ? a.bulk_bytes : a.envelope.inline_bytes;
        take_message({a.envelope, a.from, bytes, a.bulk != nullptr ? a.bulk : a.payload, bytes, 0, 0, 0,
                      nullptr, nullptr, false});
        break;
    }
    case wire::Kind::rts: {
        wire::Rts rts{};
        if (read_payload(a, rts) && (rts.described != 0 || a.bulk_bytes <= rts.bytes))
            take_message({a.envelope, a.from, rts.bytes, a.bulk, a.bulk_bytes, rts.sender, rts.address,
                          rts.place, nullptr, nullptr, rts.described != 0});
        break;
    }
    case wire::Kind::cts:
        take_cts(a);
        break;
    case wire::Kind::fragment:
        take_fragment(a);
        break;
    case wire::Kind::ack:
        take_ack(a);
        break;
    case wire::Kind::withdraw:
        take_withdraw(a);
        break;
    case wire::Kind::withdrawn:
        take_withdrawn(a);
        break;
    case wire::Kind::help:
        take_help(a);
        break;
    case wire::Kind::give_back:
    case wire::Kind::revoke: {
        const auto call = a.envelope.kind == wire::Kind::revoke ? on_revoke_ : on_give_back_;
        uint32_t context = 0;
        if (is_remote(a.from) && read_payload(a, context) && call != nullptr) call(context);
        break;
    }
    case wire::Kind::none:
        break;
    }
}

void Lane::take_message(const Incoming& message) {
    if (Operation* recv = matcher_.take_posted(message.envelope)) {
        accept(*recv, message);
        return;
    }
    counters().add(Counter::unexpected);
    if (matcher_.keep(message) == nullptr)
        std::abort();                    // a message cannot be lost, and there is no memory to keep it
    if (multithreaded_) shm_.wake_own(); // another thread may probe for it
}

// Gives a message to its receive. The receive is on no list any more.
void Lane::accept(Operation& recv, const Incoming& message) {
    recv.matched_source = message.envelope.source;
    recv.matched_tag = message.envelope.tag;
    recv.transport_peer = message.from;
    recv.received = std::min(message.bytes, recv.bytes);
    if (message.bytes > recv.bytes) recv.error = too_long(message, recv);
    counters().add_locked(Counter::receives);
    counters().add_locked(Counter::receive_bytes, recv.received);
    if (message.arriving != nullptr) return accept_from_network(recv, message);
    if (message.envelope.kind == wire::Kind::rts) return accept_rendezvous(recv, message);
    if (message.local != nullptr)
        copy_payload(*message.local, recv, recv.received);
    else
        store_payload(recv, 0, message.data, recv.received);
    if ((message.envelope.flags & wire::flag_synchronous) != 0) {
        const wire::Ack ack{message.envelope.sync_id};
        post_line(message.from, wire::Kind::ack, &ack, sizeof ack);
    }
    if (message.local != nullptr) finish(*message.local);
    finish(recv);
}

// By one copy out of the sender's buffer if that is possible and pays, else by asking for fragments.
void Lane::accept_rendezvous(Operation& recv, const Incoming& message) {
    if (copy_jointly(recv, message)) return;
    if (copy_directly(recv, message) || copy_by_kernel(recv, message)) {
        const wire::Ack ack{message.sender};
        answer(message, wire::Kind::ack, &ack, sizeof ack);
        return finish(recv);
    }
    ask_for_fragments(recv, message);
}

void Lane::ask_for_fragments(Operation& recv, const Incoming& message) {
    recv.wanted = recv.received;
    recv.moved = message.noted ? 0 : std::min(message.data_bytes, recv.wanted);
    const bool all = recv.moved == recv.wanted;
    const wire::Cts cts{message.sender, all ? 0 : table_.add(recv), recv.wanted};
    answer(message, wire::Kind::cts, &cts, sizeof cts); // first: the sender goes on meanwhile
    store_payload(recv, 0, message.data, recv.moved);
    if (all) finish(recv);
}

// With it the sender learns how many messages lie here unreceived.
void Lane::answer(const Incoming& message, wire::Kind kind, const void* payload, size_t bytes) {
    const auto unreceived = static_cast<uint32_t>(std::min<uint64_t>(matcher_.waiting(), INT32_MAX));
    post_line(message.from, kind, payload, bytes, unreceived);
}

bool Lane::copy_directly(Operation& recv, const Incoming& message) {
    if (message.place == 0) return false;
    const std::byte* const from = arena_.view(message.from, message.place, message.bytes);
    if (from == nullptr) return false;
    store_payload(recv, 0, from, recv.received);
    counters().add(Counter::direct_copies);
    return true;
}

// Into a buffer with gaps: the kernel finds long pieces itself; short ones are cheaper by way of memory that
// stays in a near cache.
bool Lane::read_from_sender(const Operation& recv, const Incoming& message) {
    if (recv.layout == nullptr) return kcopy_.read(message.from, message.address, recv.buffer, recv.received);
    constexpr uint64_t most_at_once = uint64_t{1} << 30;
    constexpr int64_t long_piece =
        1024; // from here on one more piece costs the kernel less than a copy of it
    const bool scatter = recv.layout->size >= long_piece * recv.layout->runs;
    iovec pieces[64];
    for (uint64_t done = 0, n = 0; done < recv.received; done += n) {
        const uint64_t left = std::min(recv.received - done, most_at_once);
        if (scatter) {
            const size_t used =
                layout::list_pieces(*recv.layout, recv.buffer, recv.elements, recv.first_byte + done, left,
                                    pieces, std::size(pieces), n);
            if (!kcopy_.read(message.from, message.address + done, pieces, used, n)) return false;
        } else {
            n = std::min<uint64_t>(shm_.caps().bulk_max, left);
            std::byte* const packed = staging(n);
            if (!kcopy_.read(message.from, message.address + done, packed, n)) return false;
            store_payload(recv, done, packed, n);
        }
    }
    return true;
}

bool Lane::copy_by_kernel(Operation& recv, const Incoming& message) {
    if (message.address == 0 || message.noted) return false; // the sender's buffer has gaps
    const Thresholds& t = limits(message.from);
    if (recv.received < t.kcopy_min || recv.received > t.kcopy_max || !sense_[message.from].try_kernel())
        return false;
    const uint64_t begin = os::now_ns();
    if (!read_from_sender(recv, message)) return false;
    sense_[message.from].took(t, recv.received, os::now_ns() - begin);
    counters().add(Counter::kernel_copies);
    return true;
}

// The operation that a peer names, if it is one of this kind with that peer: others are none of its business.
Operation* Lane::named_by(const transport::Arrival& a, wire::OperationId id, Operation::Kind kind) const {
    Operation* op = table_.find(id);
    return op != nullptr && op->kind == kind && op->transport_peer == a.from ? op : nullptr;
}

void Lane::take_cts(const transport::Arrival& a) {
    wire::Cts cts{};
    if (!read_payload(a, cts)) return;
    Operation* op = named_by(a, cts.sender, Operation::Kind::send);
    if (op == nullptr) return;
    table_.remove(*op);
    skew_.answered(a.from, static_cast<uint32_t>(a.envelope.tag), op->bytes, os::now_ns());
    if (op->moved == 0) (op->layout == nullptr ? asking_ : noting_)[a.from].wants_fragments();
    op->remote_id = cts.receiver;
    op->wanted = std::min(cts.bytes, op->bytes);
    streams_.push_back(op);
}

void Lane::take_fragment(const transport::Arrival& a) {
    wire::Fragment f{};
    if (!read_payload(a, f) || a.bulk == nullptr) return;
    Operation* op = named_by(a, f.receiver, Operation::Kind::recv);
    if (op == nullptr) return;
    if (f.offset > op->wanted || a.bulk_bytes > op->wanted - f.offset ||
        a.bulk_bytes > op->wanted - op->moved)
        return;
    store_payload(*op, f.offset, a.bulk, a.bulk_bytes);
    op->moved += a.bulk_bytes;
    if (op->moved == op->wanted) {
        table_.remove(*op);
        finish(*op);
    }
}

void Lane::take_ack(const transport::Arrival& a) {
    wire::Ack ack{};
    if (!read_payload(a, ack)) return;
    Operation* op = named_by(a, ack.sender, Operation::Kind::send);
    if (op == nullptr) return;
    table_.remove(*op);
    if (is_remote(a.from)) return part_of_remote_send_done(*op);
    skew_.answered(a.from, static_cast<uint32_t>(a.envelope.tag), op->bytes, os::now_ns());
    (op->layout == nullptr ? asking_ : noting_)[a.from].has_copied();
    finish(*op);
}

} // namespace zipmpi::proto
