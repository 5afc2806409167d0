// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/p2p/joint.hpp"

#include "os/clock.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/p2p/payload.hpp"

#include <algorithm>
#include <cstring>

namespace zipmpi::proto {
namespace {

// 0: in one piece.
uint64_t mean_piece(const layout::Program* layout) {
    return layout == nullptr ? 0 : static_cast<uint64_t>(layout->size / layout->runs);
}

} // namespace

bool Lane::copy_chunk(const JointCopying& copy, uint32_t chunk) {
    const uint64_t at = chunk_at(copy.chunk_bytes, chunk);
    const uint64_t bytes = chunk_length(copy.recv->received, copy.chunk_bytes, chunk);
    if (copy.view != nullptr) {
        store_payload(*copy.recv, at, copy.view + at, bytes);
        return true;
    }
    if (copy.recv->layout == nullptr && copy.from.layout == nullptr)
        return kcopy_.read(copy.message.from, copy.from.address + at, copy.recv->buffer + at, bytes);
    for (PiecePairs p(*copy.recv, copy.from, at, bytes); p.next();)
        if (!kcopy_.read(copy.message.from, p.remote(), p.remotes(), p.local(), p.locals(), p.bytes()))
            return false;
    return true;
}

bool Lane::write_chunk(const Operation& send, transport::Peer to, const PeerPlace& place, uint64_t at,
                       uint64_t bytes) {
    if (send.layout == nullptr && place.layout == nullptr)
        return kcopy_.write(to, place.address + at, send.buffer + at, bytes);
    for (PiecePairs p(send, place, at, bytes); p.next();)
        if (!kcopy_.write(to, p.remote(), p.remotes(), p.local(), p.locals(), p.bytes())) return false;
    return true;
}

bool Lane::worth_a_note(const Operation& send) {
    const Thresholds& t = limits(send.transport_peer);
    return t.goes_jointly(send.bytes, {.mean_piece = mean_piece(send.layout)}) &&
           kcopy_.works_with(send.transport_peer) && !noting_[send.transport_peer].is_vain();
}

bool Lane::may_copy_jointly(const Operation& recv, const Incoming& message, PeerPlace& from) {
    const bool placed = message.noted || (message.address != 0 && message.data_bytes == 0);
    if (!placed ||
        !limits(message.from)
             .goes_jointly(recv.received,
                           {message.place != 0, shm_.another_waits(message.from), mean_piece(recv.layout)}) ||
        !kcopy_.works_with(message.from))
        return false;
    from.address = message.address;
    return !message.noted || peer_places_.read(message.data, message.data_bytes, message.bytes, from);
}

// True: the receive is done, or will be when the sender has written what it took.
bool Lane::copy_jointly(Operation& recv, const Incoming& message) {
    PeerPlace from;
    if (!may_copy_jointly(recv, message, from)) return false;
    if (joint_under_way_ == wire::joint_copies && look_at_joint_copies() == 0) return false;
    JointCopying& copy = *std::find_if(std::begin(joint_), std::end(joint_),
                                       [](const JointCopying& c) { return c.recv == nullptr; });
    const auto index = static_cast<uint32_t>(&copy - joint_);
    const uint64_t chunk_bytes = chunk_for(recv.received);
    if (table_.add(recv) == 0) return false; // from here on it is matched, and on no list
    const uint32_t chunks = count_chunks(recv.received, chunk_bytes);
    copy = {&recv, message, std::move(from), nullptr, chunk_bytes, ++joint_number_, chunks, chunks, 0, false};
    if (message.place != 0) copy.view = arena_.view(message.from, message.place, message.bytes);
    ++joint_under_way_;
    offer_help(copy, index);
    wire::JointCopy& joint = shm_.own_block().joint[index];
    for (uint32_t chunk = 0; !copy.failed && take_chunk(joint, copy.number, copy.chunks, true, chunk);)
        if (copy_chunk(copy, chunk))
            ++copy.own;
        else
            close_joint(copy);
    finish_jointly(copy);
    return true;
}

void Lane::offer_help(const JointCopying& copy, uint32_t index) {
    wire::JointCopy& joint = shm_.own_block().joint[index];
    joint.helped.store(0, std::memory_order_relaxed);
    joint.refused.store(0, std::memory_order_relaxed);
    joint.taken.store(uint64_t{copy.number} << 32, std::memory_order_release); // pairs with take_chunk()
    const Operation& recv = *copy.recv;
    const wire::Help help{copy.message.sender,
                          index,
                          copy.number,
                          static_cast<uint32_t>(copy.chunk_bytes),
                          reinterpret_cast<uint64_t>(recv.buffer),
                          recv.received};
    const wire::Envelope e{wire::Kind::help, 0, 0, 0, 0, 0, 0, 0};
    const auto* const line = reinterpret_cast<const std::byte*>(&help);
    // If the ring is full, or the layout too long to be described, we do without.
    if (recv.layout == nullptr) {
        static_cast<void>(shm_.send_short(copy.message.from, e, line, sizeof help));
        return;
    }
    const PlaceNote note(recv);
    if (note.used != 0)
        static_cast<void>(
            shm_.send_bulk(copy.message.from, e, line, sizeof help, {note.data(), note.bytes()}));
}

// Nobody takes chunks any more.
void Lane::close_joint(JointCopying& copy) {
    copy.failed = true;
    const uint64_t before =
        shm_.own_block().joint[&copy - joint_].taken.exchange(0, std::memory_order_acq_rel);
    copy.taken = chunks_taken(before);
}

// The buffer belongs to somebody else from now on.
void Lane::abandon_joint(const Operation& recv) {
    for (JointCopying& copy : joint_) {
        if (copy.recv != &recv) continue;
        const wire::JointCopy& joint = shm_.own_block().joint[&copy - joint_];
        const uint32_t own = copy.own + (copy.failed ? 1 : 0);
        if (!copy.failed) close_joint(copy);
        const auto& sender = shm_.segment().block(copy.message.from).state; // a dead one writes no more
        while (own + joint.helped.load(std::memory_order_acquire) +
                       (joint.refused.load(std::memory_order_acquire) != 0 ? 1 : 0) <
                   copy.taken &&
               sender.load(std::memory_order_acquire) != static_cast<uint32_t>(wire::RankState::failed))
            os::cpu_relax();
        copy.recv = nullptr;
        --joint_under_way_;
    }
}

// False: the sender has not written all that it took. Where the kernel changed its mind the message comes in
// fragments, from the beginning.
bool Lane::finish_jointly(JointCopying& copy) {
    wire::JointCopy& joint = shm_.own_block().joint[&copy - joint_];
    // seq_cst: also the last look before a sleep. Pairs with take_help().
    const uint32_t helped = joint.helped.load(std::memory_order_seq_cst);
    const uint32_t refused = joint.refused.load(std::memory_order_seq_cst);
    if (copy.own + (copy.failed ? 1 : 0) + helped + (refused != 0 ? 1 : 0) < copy.taken) return false;
    if (refused != 0 && !copy.failed) copy.failed = refused > copy.chunks || !copy_chunk(copy, refused - 1);
    joint.taken.store(0, std::memory_order_release);
    Operation& recv = *copy.recv;
    const Incoming message = copy.message;
    copy.recv = nullptr;
    --joint_under_way_;
    table_.remove(recv);
    if (copy.failed) {
        ask_for_fragments(recv, message);
        return true;
    }
    counters().add(Counter::joint_copies);
    const wire::Ack ack{message.sender};
    answer(message, wire::Kind::ack, &ack, sizeof ack);
    finish(recv);
    return true;
}

int Lane::look_at_joint_copies() {
    int happened = 0;
    for (JointCopying& copy : joint_)
        if (copy.recv != nullptr && finish_jointly(copy)) ++happened;
    return happened;
}

void Lane::take_help(const transport::Arrival& a) {
    wire::Help help{};
    if (a.envelope.inline_bytes != sizeof help) return;
    std::memcpy(&help, a.payload, sizeof help);
    const Operation* op = named_by(a, help.sender, Operation::Kind::send);
    if (op == nullptr || help.joint >= wire::joint_copies || help.bytes > op->bytes ||
        help.chunk_bytes < least_chunk)
        return;
    PeerPlace place;
    place.address = help.address;
    if (a.bulk != nullptr && !peer_places_.read(a.bulk, a.bulk_bytes, help.bytes, place)) return;
    const uint32_t chunks = count_chunks(help.bytes, help.chunk_bytes);
    wire::JointCopy& joint = shm_.segment().block(a.from).joint[help.joint];
    bool helped = false;
    for (uint32_t chunk = 0;
         kcopy_.writes_to(a.from) && take_chunk(joint, help.number, chunks, false, chunk);) {
        const uint64_t at = chunk_at(help.chunk_bytes, chunk);
        helped = true;
        // seq_cst: see finish_jointly().
        if (write_chunk(*op, a.from, place, at, chunk_length(help.bytes, help.chunk_bytes, chunk))) {
            joint.helped.fetch_add(1, std::memory_order_seq_cst);
        } else {
            joint.refused.store(chunk + 1, std::memory_order_seq_cst);
            break;
        }
    }
    if (helped) shm_.wake_if_asleep(a.from);
}

} // namespace zipmpi::proto
