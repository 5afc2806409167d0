// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point calls: from communicator, count and datatype to an operation on bytes.
#include "core/p2p.hpp"

#include "core/api.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

static_assert(any_source == proto::any_source && any_tag == proto::any_tag);

Err send_blocking(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
                  bool synchronous) {
    if (dest == proc_null) return Err::success;
    const TypeShare hold = share(type); // another thread may free it
    proto::Operation op = send_of(buf, count, type, dest, tag, comm);
    op.synchronous = synchronous;
    start_operation(op);
    proto::wait_for(lane(), op);
    return op.error;
}

Err send_request(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
                 bool synchronous, Request*& request) {
    if (dest == proc_null) return request_to_nobody(comm, type, request);
    proto::Operation op = send_of(buf, count, type, dest, tag, comm);
    op.synchronous = synchronous;
    op.patient = true;
    if (lane().send_at_once(op)) {
        request = request_of_done_send();
        return request != nullptr ? Err::success : no_request();
    }
    return start_request(op, comm, type, request);
}

} // namespace

Err no_request() {
    return fail(Err::no_mem, "complete requests before starting more", "no memory for another request");
}

Err no_copy() {
    return fail(Err::no_mem, "use two buffers, with MPI_Sendrecv or MPI_Isendrecv",
                "no memory to keep a copy of the send data");
}

Err start_request(const proto::Operation& op, Comm& comm, Datatype& type, Request*& request) {
    request = make_request(op, &comm, type);
    if (request == nullptr) return no_request();
    start_operation(*request);
    return Err::success;
}

Err request_to_nobody(Comm& comm, Datatype& type, Request*& request) {
    request = make_request(&comm, type);
    if (request == nullptr) return no_request();
    request->to_nobody = true;
    request->complete = true;
    return Err::success;
}

Status status_of_waiting(const proto::Incoming& message) {
    Status s;
    s.source = message.envelope.source;
    s.tag = message.envelope.tag;
    s.bytes = static_cast<int64_t>(message.bytes);
    return s;
}

Err send(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm) {
    return send_blocking(buf, count, type, dest, tag, comm, false);
}

Err ssend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm) {
    return send_blocking(buf, count, type, dest, tag, comm, true);
}

Err isend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request) {
    return send_request(buf, count, type, dest, tag, comm, false, request);
}

Err issend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request) {
    return send_request(buf, count, type, dest, tag, comm, true, request);
}

Err recv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Status* status) {
    if (source == proc_null) {
        if (status != nullptr) *status = status_to_nobody();
        return Err::success;
    }
    const TypeShare hold = share(type);
    proto::Operation op = recv_of(buf, count, type, source, tag, comm);
    start_operation(op);
    proto::wait_until(
        lane(), [&] { return op.done() || waits_in_vain(op); }, proto::note_on(op));
    if (!op.done()) { // from anybody, and somebody is gone
        lane().give_up_recv(op);
        op.error = fail(Err::proc_failed, "acknowledge failures with MPIX_Comm_ack_failed before receiving",
                        "a rank that might have sent the message has failed");
    }
    if (status != nullptr) *status = status_of(op);
    return op.error;
}

bool waits_in_vain(const proto::Operation& op) {
    return lane().faulty() && op.kind == proto::Operation::Kind::recv && op.source == any_source &&
           op.matched_source == any_source &&
           lane().no_message_from(op.context, any_source, -1) != Err::success;
}

Err irecv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request) {
    if (source == proc_null) return request_to_nobody(comm, type, request);
    request = make_request(&comm, type);
    if (request == nullptr) return no_request();
    set_recv_of(*request, buf, count, type, source, tag, comm);
    lane().start_recv(*request);
    return Err::success;
}

Err sendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
             int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Status* status) {
    if (dest == proc_null) return recv(rbuf, rcount, rtype, source, rtag, comm, status);
    if (source == proc_null) {
        if (status != nullptr) *status = status_to_nobody();
        return send(sbuf, scount, stype, dest, stag, comm);
    }
    const TypeShare hold_recv = share(rtype);
    const TypeShare hold_send = share(stype);
    proto::Operation r = recv_of(rbuf, rcount, rtype, source, rtag, comm);
    proto::Operation s = send_of(sbuf, scount, stype, dest, stag, comm);
    const Err error = proto::exchange(lane(), r, s);
    if (status != nullptr) *status = status_of(r);
    return error;
}

Err sendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                     Comm& comm, Status* status) {
    const Bytes copy = make_bytes(packed_bytes(count, type));
    if (copy == nullptr) return no_copy();
    pack_all(copy.get(), buf, count, type);
    return sendrecv(copy.get(), static_cast<int64_t>(packed_bytes(count, type)), builtin_type(TypeId::BYTE),
                    dest, stag, buf, count, type, source, rtag, comm, status);
}

Err probe(int source, int tag, Comm& comm, Status* status) {
    if (source == proc_null) {
        if (status != nullptr) *status = status_to_nobody();
        return Err::success;
    }
    const proto::Operation pattern = proto::make_recv(comm.team, nullptr, 0, source, tag);
    const proto::ExpectingProbe expecting(lane().shm(), source, pattern.world_peer);
    if (lane().faulty()) lane().progress(); // a rank that is gone may have sent it before
    const proto::Incoming* found = nullptr;
    Err hopeless = Err::success;
    proto::wait_until(
        lane(),
        [&] {
            found = lane().probe(comm.team.context, source, tag);
            if (found == nullptr)
                hopeless = lane().no_message_from(comm.team.context, source, pattern.world_peer);
            return found != nullptr || hopeless != Err::success;
        },
        proto::note_on(pattern));
    if (found == nullptr) return hopeless;
    if (status != nullptr) *status = status_of_waiting(*found);
    return Err::success;
}

Err iprobe(int source, int tag, Comm& comm, bool& flag, Status* status) {
    flag = true;
    if (source == proc_null) {
        if (status != nullptr) *status = status_to_nobody();
        return Err::success;
    }
    const proto::Incoming* found = lane().probe(comm.team.context, source, tag);
    if (found == nullptr) {
        const proto::ExpectingProbe expecting(lane().shm(), source, world_source(comm, source));
        proto::poll(lane());
        found = lane().probe(comm.team.context, source, tag);
    }
    flag = found != nullptr;
    if (!flag && lane().faulty())
        return lane().no_message_from(comm.team.context, source, world_source(comm, source));
    if (flag && status != nullptr) *status = status_of_waiting(*found);
    return Err::success;
}

} // namespace zipmpi::core
