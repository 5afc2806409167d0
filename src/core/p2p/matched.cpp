// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matched probes: the probe removes the message from matching, a matched receive receives it.
#include "core/api/p2p.hpp"
#include "core/errhandler/error_comm.hpp"
#include "core/p2p/message.hpp"
#include "core/p2p/nonblocking_probe.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

Slab<Message>& slab() {
    static auto* const s = new Slab<Message>; // never destroyed: see slab.hpp
    return *s;
}

Err return_proc_null(Message*& message, Status* status) {
    message = &message_no_proc();
    if (status != nullptr) *status = proc_null_status();
    return Err::success;
}

Err return_message(proto::UnexpectedMessage& unexpected, Comm& comm, Message*& message, Status* status) {
    message->unexpected = &unexpected;
    message->comm = &comm;
    add_ref(comm);
    if (status != nullptr) *status = status_of_unexpected(unexpected.message);
    return Err::success;
}

// The object is created before the message is removed from the queue, so that memory exhaustion loses no
// message.
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

proto::Operation make_message_recv_op(void* buf, int64_t count, const Datatype& type,
                                      const Message& message) {
    const wire::Envelope& e = message.unexpected->message.envelope;
    return make_recv_op(buf, count, type, e.source, e.tag, *message.comm);
}

} // namespace

Message& message_no_proc() noexcept {
    struct NoProc : Message {
        constexpr NoProc() { cls = ObjectKind::message; }
    };
    static constinit NoProc message; // accessed by several threads concurrently
    return message;
}

Message* message_by_index(uint32_t index) { return slab().find(index); }

const Comm* comm_of(const Message& message) noexcept { return message.comm; }

Err mprobe(int source, int tag, Comm& comm, Message*& message, Status* status) {
    if (source == proc_null) return return_proc_null(message, status);
    if (const Err e = make_message(message); e != Err::success) return e;
    const proto::Operation pattern = proto::make_recv(comm.team, nullptr, 0, source, tag);
    const proto::ExpectedProbe expecting(progress_engine().shm(), source, pattern.world_peer);
    if (progress_engine().faults().any())
        progress_engine().progress(); // the failed rank may have sent it before
    proto::UnexpectedMessage* unexpected = nullptr;
    Err failure = Err::success;
    proto::wait_until(
        progress_engine(),
        [&] {
            if (unexpected == nullptr) unexpected = progress_engine().extract(comm.team.context, source, tag);
            if (unexpected == nullptr)
                failure =
                    progress_engine().faults().source_failure(comm.team.context, source, pattern.world_peer);
            return unexpected != nullptr || failure != Err::success;
        },
        proto::wait_info_of(pattern));
    if (unexpected == nullptr) {
        slab().destroy(*message);
        message = nullptr;
        return failure;
    }
    return return_message(*unexpected, comm, message, status);
}

Err improbe(int source, int tag, Comm& comm, bool& flag, Message*& message, Status* status) {
    flag = true;
    if (source == proc_null) return return_proc_null(message, status);
    if (const Err e = make_message(message); e != Err::success) return e;
    proto::UnexpectedMessage* const unexpected =
        find_message(source, tag, comm, [&](const proto::IncomingMessage&) {
            return progress_engine().extract(comm.team.context, source, tag);
        });
    flag = unexpected != nullptr;
    if (flag) return return_message(*unexpected, comm, message, status);
    slab().destroy(*message);
    message = nullptr;
    return progress_engine().faults().source_failure(comm.team.context, source, world_source(comm, source));
}

Err mrecv(void* buf, int64_t count, Datatype& type, Message*& message, Status* status) {
    if (message->unexpected == nullptr) {
        message = nullptr;
        if (status != nullptr) *status = proc_null_status();
        return Err::success;
    }
    const TypeShare type_ref = share(type);
    proto::Operation op = make_message_recv_op(buf, count, type, *message);
    progress_engine().recv_extracted(op, *message->unexpected);
    proto::wait_for(progress_engine(), op);
    if (op.error != Err::success) [[unlikely]]
        retain_error_comm(message->comm);
    destroy(message);
    if (status != nullptr) *status = status_of(op);
    return op.error;
}

Err imrecv(void* buf, int64_t count, Datatype& type, Message*& message, Request*& request) {
    if (message->unexpected == nullptr) {
        message = nullptr;
        return make_proc_null_request(*comm_self(), type, request);
    }
    request = make_request(make_message_recv_op(buf, count, type, *message), message->comm, type);
    if (request == nullptr) return request_alloc_error();
    progress_engine().recv_extracted(*request, *message->unexpected);
    destroy(message);
    return Err::success;
}

} // namespace zipmpi::core
