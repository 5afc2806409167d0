// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point calls: conversion of communicator, count and datatype to an operation on bytes.
#include "core/p2p/p2p.hpp"

#include "core/api/p2p.hpp"
#include "core/p2p/nonblocking_probe.hpp"
#include "core/p2p/plain.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {
namespace {

static_assert(any_source == proto::any_source && any_tag == proto::any_tag);

enum class SendMode : uint8_t { standard, synchronous };

// Sends a short message of contiguous data at once if it goes to another rank of this node and need not be
// queued.
[[gnu::always_inline]] inline bool try_send_inline(const void* buf, int64_t count, const Datatype& type,
                                                   int dest, int tag, const Comm& comm) {
    const uint64_t bytes = packed_bytes(count, type);
    return type.layout == nullptr && bytes <= plain::max_bytes &&
           plain::try_send(buf, bytes, dest, tag, comm);
}

// Receives a short message of contiguous data that has arrived already from another rank of this node.
[[gnu::always_inline]] inline bool try_recv_inline(void* buf, int64_t count, const Datatype& type, int source,
                                                   int tag, const Comm& comm, Status* status) {
    uint64_t bytes = 0;
    if (type.layout != nullptr || source == any_source ||
        !plain::try_recv(buf, packed_bytes(count, type), source, tag, any_tag, comm, bytes))
        return false;
    if (status != nullptr) *status = {source, tag, Err::success, false, static_cast<int64_t>(bytes)};
    return true;
}

void set_mode(proto::Operation& op, SendMode mode, const Comm& comm) {
    if (mode == SendMode::standard) return;
    op.synchronous = true;
    op.round_flags = comm.barriers.flags();
}

Err wait_for_send(const proto::MessageArgs& message, Datatype& type, SendMode mode, const Comm& comm) {
    const TypeShare type_ref = share(type); // another thread may free it
    proto::Operation op(proto::Operation::Kind::send, message);
    set_mode(op, mode, comm);
    progress_engine().start_send(op);
    proto::wait_for(progress_engine(), op);
    return op.error;
}

Err send_request(const proto::MessageArgs& message, Datatype& type, Comm& comm, SendMode mode,
                 Request*& request) {
    proto::Operation op(proto::Operation::Kind::send, message);
    set_mode(op, mode, comm);
    op.batchable = true;
    return start_request(op, comm, type, request);
}

} // namespace

Err request_alloc_error() {
    return fail(Err::no_mem, "complete requests before starting more", "no memory for another request");
}

Err copy_alloc_error() {
    return fail(Err::no_mem, "use two buffers, with MPI_Sendrecv or MPI_Isendrecv",
                "no memory for a copy of the send data");
}

Err start_request(const proto::Operation& op, Comm& comm, Datatype& type, Request*& request) {
    request = make_request(op, &comm, type);
    if (request == nullptr) return request_alloc_error();
    start_operation(*request);
    return Err::success;
}

Err make_proc_null_request(Comm& comm, Datatype& type, Request*& request) {
    request = make_request(&comm, type);
    if (request == nullptr) return request_alloc_error();
    request->is_proc_null = true;
    request->complete = true;
    return Err::success;
}

Status status_of_unexpected(const proto::IncomingMessage& message) {
    Status s;
    s.source = message.envelope.source;
    s.tag = message.envelope.tag;
    s.bytes = static_cast<int64_t>(message.bytes);
    return s;
}

// Any other message than those of try_send_inline().
[[gnu::noinline]] static Err send_longer(const void* buf, int64_t count, Datatype& type, int dest, int tag,
                                         Comm& comm) {
    proto::MessageArgs message;
    set_send_args(message, buf, count, type, dest, tag, comm);
    if (progress_engine().sender().try_send_eager(message)) return Err::success;
    return wait_for_send(message, type, SendMode::standard, comm);
}

[[gnu::noinline]] static Err isend_longer(const void* buf, int64_t count, Datatype& type, int dest, int tag,
                                          Comm& comm, Request*& request) {
    proto::MessageArgs message;
    set_send_args(message, buf, count, type, dest, tag, comm);
    if (progress_engine().sender().try_send_eager(message)) {
        request = completed_send_request();
        return request != nullptr ? Err::success : request_alloc_error();
    }
    return send_request(message, type, comm, SendMode::standard, request);
}

Err send(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm) {
    if (dest == proc_null) return Err::success;
    if (try_send_inline(buf, count, type, dest, tag, comm)) [[likely]]
        return Err::success;
    return send_longer(buf, count, type, dest, tag, comm);
}

bool plain::send_longer(uint32_t function, const void* buf, uint64_t bytes, int dest, int tag,
                        const Comm& comm) noexcept {
    const proto::Team& team = comm.team;
    const wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, team.context, team.rank, tag, 0};
    if (!progress_engine().sender().try_send_multislot(team.map.world(dest), e,
                                                       static_cast<const std::byte*>(buf), bytes))
        return false;
    record_call(recorder(), function, dest, tag, team.context);
    return true;
}

Err ssend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm) {
    if (dest == proc_null) return Err::success;
    proto::MessageArgs message;
    set_send_args(message, buf, count, type, dest, tag, comm);
    return wait_for_send(message, type, SendMode::synchronous, comm);
}

Err isend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request) {
    if (dest == proc_null) return make_proc_null_request(comm, type, request);
    if (!try_send_inline(buf, count, type, dest, tag, comm)) [[unlikely]]
        return isend_longer(buf, count, type, dest, tag, comm, request);
    request = completed_send_request();
    return request != nullptr ? Err::success : request_alloc_error();
}

Err issend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request) {
    if (dest == proc_null) return make_proc_null_request(comm, type, request);
    proto::MessageArgs message;
    set_send_args(message, buf, count, type, dest, tag, comm);
    return send_request(message, type, comm, SendMode::synchronous, request);
}

Err recv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Status* status) {
    if (source == proc_null) {
        if (status != nullptr) *status = proc_null_status();
        return Err::success;
    }
    if (try_recv_inline(buf, count, type, source, tag, comm, status)) return Err::success;
    const TypeShare type_ref = share(type);
    proto::Operation op = make_recv_op(buf, count, type, source, tag, comm);
    start_operation(op);
    proto::wait_until(
        progress_engine(), [&] { return op.done() || is_blocked_by_failure(op); }, proto::wait_info_of(op));
    if (!op.done()) { // MPI_ANY_SOURCE, and a member has failed
        progress_engine().abandon_recv(op);
        op.error = fail(Err::proc_failed, "acknowledge failures with MPIX_Comm_ack_failed before receiving",
                        "a rank that might have sent the message has failed");
    }
    if (status != nullptr) *status = status_of(op);
    return op.error;
}

bool is_blocked_by_failure(const proto::Operation& op) {
    return progress_engine().faults().any() && op.kind == proto::Operation::Kind::recv &&
           op.source == any_source && op.matched_source == any_source &&
           progress_engine().faults().source_failure(op.context, any_source, -1) != Err::success;
}

Err irecv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request) {
    if (source == proc_null) return make_proc_null_request(comm, type, request);
    request = make_request(&comm, type);
    if (request == nullptr) return request_alloc_error();
    set_recv_op(*request, buf, count, type, source, tag, comm);
    progress_engine().start_recv(*request);
    return Err::success;
}

Request* plain::irecv(uint32_t function, void* buf, uint64_t capacity, int source, int tag, Comm& comm) {
    Request* const request = make_plain_request(comm);
    if (request == nullptr) return nullptr;
    proto::set_recv(*request, comm.team, buf, capacity, source, tag);
    record_call(recorder(), function, source == any_source ? recorder_any : source,
                tag == any_tag ? recorder_any : tag, comm.team.context);
    progress_engine().start_recv(*request);
    return request;
}

Err sendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
             int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Status* status) {
    if (dest == proc_null) return recv(rbuf, rcount, rtype, source, rtag, comm, status);
    if (source == proc_null) {
        if (status != nullptr) *status = proc_null_status();
        return send(sbuf, scount, stype, dest, stag, comm);
    }
    // A short send needs no receive to be posted before it.
    if (try_send_inline(sbuf, scount, stype, dest, stag, comm))
        return recv(rbuf, rcount, rtype, source, rtag, comm, status);
    const TypeShare recv_type_ref = share(rtype);
    const TypeShare send_type_ref = share(stype);
    proto::Operation r = make_recv_op(rbuf, rcount, rtype, source, rtag, comm);
    proto::Operation s = make_send_op(sbuf, scount, stype, dest, stag, comm);
    const Err error = proto::exchange(progress_engine(), r, s);
    if (status != nullptr) *status = status_of(r);
    return error;
}

Err sendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                     Comm& comm, Status* status) {
    const HeapBytes copy = allocate_bytes(packed_bytes(count, type));
    if (copy == nullptr) return copy_alloc_error();
    pack_all(copy.get(), buf, count, type);
    return sendrecv(copy.get(), static_cast<int64_t>(packed_bytes(count, type)), builtin_type(TypeId::BYTE),
                    dest, stag, buf, count, type, source, rtag, comm, status);
}

Err probe(int source, int tag, Comm& comm, Status* status) {
    if (source == proc_null) {
        if (status != nullptr) *status = proc_null_status();
        return Err::success;
    }
    const proto::Operation pattern = proto::make_recv(comm.team, nullptr, 0, source, tag);
    const proto::ExpectedProbe expecting(progress_engine().shm(), source, pattern.world_peer);
    if (progress_engine().faults().any())
        progress_engine().progress(); // the failed rank may have sent it before
    const proto::IncomingMessage* found = nullptr;
    Err failure = Err::success;
    proto::wait_until(
        progress_engine(),
        [&] {
            found = progress_engine().probe(comm.team.context, source, tag);
            if (found == nullptr)
                failure =
                    progress_engine().faults().source_failure(comm.team.context, source, pattern.world_peer);
            return found != nullptr || failure != Err::success;
        },
        proto::wait_info_of(pattern));
    if (found == nullptr) return failure;
    if (status != nullptr) *status = status_of_unexpected(*found);
    return Err::success;
}

Err iprobe(int source, int tag, Comm& comm, bool& flag, Status* status) {
    flag = true;
    if (source == proc_null) {
        if (status != nullptr) *status = proc_null_status();
        return Err::success;
    }
    const proto::IncomingMessage* const found =
        find_message(source, tag, comm, [](const proto::IncomingMessage& message) { return &message; });
    flag = found != nullptr;
    if (!flag && progress_engine().faults().any())
        return progress_engine().faults().source_failure(comm.team.context, source,
                                                         world_source(comm, source));
    if (flag && status != nullptr) *status = status_of_unexpected(*found);
    return Err::success;
}

} // namespace zipmpi::core
