// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A send and a receive as one request.
#include "core/api/p2p.hpp"
#include "core/p2p/p2p.hpp"

#include <new>

namespace zipmpi::core {
namespace {

struct SendReceive : CompoundRequest {
    SubOperation recv;
    SubOperation send;
    TypeShare send_type; // type of the send; that of the receive belongs to the request
    HeapBytes copy;      // of the send data, for MPI_Isendrecv_replace
    [[nodiscard]] const proto::Operation* pending_operation() const override {
        return recv.done() ? &send : &recv;
    }
};

void on_part_done(proto::Operation& op) {
    Request& request = *static_cast<SubOperation&>(op).parent;
    const auto& pair = static_cast<const SendReceive&>(*request.compound);
    if (op.kind == proto::Operation::Kind::recv) {
        request.matched_source = op.matched_source;
        request.matched_tag = op.matched_tag;
        request.received = op.received;
    }
    if (op.error != Err::success) request.error = op.error;
    if (pair.recv.done() && pair.send.done()) complete_request(request);
}

Err make_exchange_request(const proto::Operation& send, const proto::Operation& recv, Datatype& stype,
                          Datatype& rtype, Comm& comm, HeapBytes copy, Request*& request) {
    std::unique_ptr<SendReceive> pair(new (std::nothrow) SendReceive);
    proto::Operation whole;
    whole.kind = proto::Operation::Kind::recv;
    request = pair != nullptr ? make_request(whole, &comm, rtype) : nullptr;
    if (request == nullptr) return request_alloc_error();
    SendReceive& both = *pair;
    static_cast<proto::Operation&>(both.recv) = recv;
    static_cast<proto::Operation&>(both.send) = send;
    both.send_type = share(stype);
    both.recv.parent = both.send.parent = request;
    both.recv.on_done = both.send.on_done = on_part_done;
    both.copy = std::move(copy);
    request->role = Request::exchange;
    request->compound = std::move(pair);
    progress_engine().start_recv(both.recv);
    progress_engine().start_send(both.send);
    return Err::success;
}

// A receive from MPI_PROC_NULL completes immediately; the request is that of the send.
Err start_send_only(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
                    Request*& request) {
    const Err e = isend(buf, count, type, dest, tag, comm, request);
    if (e == Err::success) request->is_proc_null = true;
    return e;
}

} // namespace

Err isendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
              int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Request*& request) {
    if (dest == proc_null) return irecv(rbuf, rcount, rtype, source, rtag, comm, request);
    if (source == proc_null) return start_send_only(sbuf, scount, stype, dest, stag, comm, request);
    return make_exchange_request(make_send_op(sbuf, scount, stype, dest, stag, comm),
                                 make_recv_op(rbuf, rcount, rtype, source, rtag, comm), stype, rtype, comm,
                                 nullptr, request);
}

Err isendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                      Comm& comm, Request*& request) {
    if (dest == proc_null) return irecv(buf, count, type, source, rtag, comm, request);
    if (source == proc_null) return start_send_only(buf, count, type, dest, stag, comm, request);
    const uint64_t bytes = packed_bytes(count, type);
    HeapBytes copy = allocate_bytes(bytes);
    if (copy == nullptr) return copy_alloc_error();
    pack_all(copy.get(), buf, count, type);
    const proto::Operation send = proto::make_send(comm.team, copy.get(), bytes, dest, stag);
    return make_exchange_request(send, make_recv_op(buf, count, type, source, rtag, comm), type, type, comm,
                                 std::move(copy), request);
}

} // namespace zipmpi::core
