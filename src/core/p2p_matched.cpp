// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matched probes: the probe takes the message out of matching, a receive names it.
#include "core/errhandler/kept_comm.hpp"
#include "core/message.hpp"
#include "core/p2p.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

Slab<Message>& slab() {
    static auto* const s = new Slab<Message>; // never destroyed: see slab.hpp
    return *s;
}

Err found_nobody(Message*& message, Status* status) {
    message = &message_no_proc();
    if (status != nullptr) *status = status_to_nobody();
    return Err::success;
}

Err found(proto::Unexpected& waiting, Comm& comm, Message*& message, Status* status) {
    message->waiting = &waiting;
    message->comm = &comm;
    hold(comm);
    if (status != nullptr) *status = status_of_waiting(waiting.message);
    return Err::success;
}

// The object is made before the message is taken out, so that lack of memory loses no message.
Err make_message(Message*& message) {
    message = slab().make();
    return message != nullptr ? Err::success
                              : fail(Err::no_mem, "receive probed messages", "no memory for another message");
}

void destroy(Message*& message) {
    Comm* comm = message->comm;
    slab().destroy(*message);
    message = nullptr;
    release(*comm);
}

proto::Operation receive_of(void* buf, int64_t count, const Datatype& type, const Message& message) {
    const wire::Envelope& e = message.waiting->message.envelope;
    return recv_of(buf, count, type, e.source, e.tag, *message.comm);
}

} // namespace

Message& message_no_proc() noexcept {
    struct NoProc : Message {
        constexpr NoProc() { cls = Class::message; }
    };
    static constinit NoProc message; // threads ask for it at the same time
    return message;
}

Message* message_by_index(uint32_t index) { return slab().find(index); }

const Comm* comm_of(const Message& message) noexcept { return message.comm; }

Err mprobe(int source, int tag, Comm& comm, Message*& message, Status* status) {
    if (source == proc_null) return found_nobody(message, status);
    if (const Err e = make_message(message); e != Err::success) return e;
    const proto::Operation pattern = proto::make_recv(comm.team, nullptr, 0, source, tag);
    const proto::ExpectingProbe expecting(lane().shm(), source, pattern.world_peer);
    if (lane().faulty()) lane().progress(); // a rank that is gone may have sent it before
    proto::Unexpected* waiting = nullptr;
    Err hopeless = Err::success;
    proto::wait_until(
        lane(),
        [&] {
            if (waiting == nullptr) waiting = lane().take(comm.team.context, source, tag);
            if (waiting == nullptr)
                hopeless = lane().no_message_from(comm.team.context, source, pattern.world_peer);
            return waiting != nullptr || hopeless != Err::success;
        },
        proto::note_on(pattern));
    if (waiting == nullptr) {
        slab().destroy(*message);
        message = nullptr;
        return hopeless;
    }
    return found(*waiting, comm, message, status);
}

Err improbe(int source, int tag, Comm& comm, bool& flag, Message*& message, Status* status) {
    flag = true;
    if (source == proc_null) return found_nobody(message, status);
    if (const Err e = make_message(message); e != Err::success) return e;
    proto::Unexpected* waiting = lane().take(comm.team.context, source, tag);
    if (waiting == nullptr) {
        const proto::ExpectingProbe expecting(lane().shm(), source, world_source(comm, source));
        proto::poll(lane());
        waiting = lane().take(comm.team.context, source, tag);
    }
    flag = waiting != nullptr;
    if (flag) return found(*waiting, comm, message, status);
    slab().destroy(*message);
    message = nullptr;
    return lane().no_message_from(comm.team.context, source, world_source(comm, source));
}

Err mrecv(void* buf, int64_t count, Datatype& type, Message*& message, Status* status) {
    if (message->waiting == nullptr) {
        message = nullptr;
        if (status != nullptr) *status = status_to_nobody();
        return Err::success;
    }
    const TypeShare hold = share(type);
    proto::Operation op = receive_of(buf, count, type, *message);
    lane().receive_taken(op, *message->waiting);
    proto::wait_for(lane(), op);
    if (op.error != Err::success) [[unlikely]]
        keep_for_error(message->comm);
    destroy(message);
    if (status != nullptr) *status = status_of(op);
    return op.error;
}

Err imrecv(void* buf, int64_t count, Datatype& type, Message*& message, Request*& request) {
    if (message->waiting == nullptr) {
        message = nullptr;
        return request_to_nobody(*comm_self(), type, request);
    }
    request = make_request(receive_of(buf, count, type, *message), message->comm, type);
    if (request == nullptr) return no_request();
    lane().receive_taken(*request, *message->waiting);
    destroy(message);
    return Err::success;
}

} // namespace zipmpi::core
