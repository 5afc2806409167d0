// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A send and a receive as one request.
#include "core/p2p.hpp"

#include <new>

namespace zipmpi::core {
namespace {

struct SendReceive : Compound {
    Part recv;
    Part send;
    TypeShare send_type; // of the send; that of the receive is the request's
    Bytes copy;          // of the bytes to be sent, where they are replaced
    [[nodiscard]] const proto::Operation* shown() const override { return recv.done() ? &send : &recv; }
};

void part_done(proto::Operation& op) {
    Request& whole = *static_cast<Part&>(op).whole;
    const auto& parts = static_cast<const SendReceive&>(*whole.compound);
    if (op.kind == proto::Operation::Kind::recv) {
        whole.matched_source = op.matched_source;
        whole.matched_tag = op.matched_tag;
        whole.received = op.received;
    }
    if (op.error != Err::success) whole.error = op.error;
    if (parts.recv.done() && parts.send.done()) complete_whole(whole);
}

Err exchange_request(const proto::Operation& send, const proto::Operation& recv, Datatype& stype,
                     Datatype& rtype, Comm& comm, Bytes copy, Request*& request) {
    std::unique_ptr<SendReceive> parts(new (std::nothrow) SendReceive);
    proto::Operation whole;
    whole.kind = proto::Operation::Kind::recv;
    request = parts != nullptr ? make_request(whole, &comm, rtype) : nullptr;
    if (request == nullptr) return no_request();
    SendReceive& both = *parts;
    static_cast<proto::Operation&>(both.recv) = recv;
    static_cast<proto::Operation&>(both.send) = send;
    both.send_type = share(stype);
    both.recv.whole = both.send.whole = request;
    both.recv.on_done = both.send.on_done = part_done;
    both.copy = std::move(copy);
    request->role = Request::exchange;
    request->compound = std::move(parts);
    lane().start_recv(both.recv);
    lane().start_send(both.send);
    return Err::success;
}

// A message from MPI_PROC_NULL is received at once; the send is what remains of the request.
Err send_alone(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request) {
    const Err e = isend(buf, count, type, dest, tag, comm, request);
    if (e == Err::success) request->to_nobody = true;
    return e;
}

} // namespace

Err isendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
              int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Request*& request) {
    if (dest == proc_null) return irecv(rbuf, rcount, rtype, source, rtag, comm, request);
    if (source == proc_null) return send_alone(sbuf, scount, stype, dest, stag, comm, request);
    return exchange_request(send_of(sbuf, scount, stype, dest, stag, comm),
                            recv_of(rbuf, rcount, rtype, source, rtag, comm), stype, rtype, comm, nullptr,
                            request);
}

Err isendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                      Comm& comm, Request*& request) {
    if (dest == proc_null) return irecv(buf, count, type, source, rtag, comm, request);
    if (source == proc_null) return send_alone(buf, count, type, dest, stag, comm, request);
    const uint64_t bytes = packed_bytes(count, type);
    Bytes copy = make_bytes(bytes);
    if (copy == nullptr) return no_copy();
    pack_all(copy.get(), buf, count, type);
    const proto::Operation send = proto::make_send(comm.team, copy.get(), bytes, dest, stag);
    return exchange_request(send, recv_of(buf, count, type, source, rtag, comm), type, type, comm,
                            std::move(copy), request);
}

} // namespace zipmpi::core
