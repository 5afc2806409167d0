// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point calls and requests (MPI chapter 3). The ABI binding checks peers and tags.
#pragma once

#include "core/api/common.hpp"

namespace zipmpi::core {

Err send(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm);
Err ssend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm);
Err isend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request);
Err issend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request);
Err recv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Status* status);
Err irecv(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request);
Err bsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm);
Err ibsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request);
Err sendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
             int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Status* status);
Err sendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                     Comm& comm, Status* status);
Err isendrecv(const void* sbuf, int64_t scount, Datatype& stype, int dest, int stag, void* rbuf,
              int64_t rcount, Datatype& rtype, int source, int rtag, Comm& comm, Request*& request);
Err isendrecv_replace(void* buf, int64_t count, Datatype& type, int dest, int stag, int source, int rtag,
                      Comm& comm, Request*& request);
Err send_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
              Request*& request);
Err ssend_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request);
Err bsend_init(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm,
               Request*& request);
Err recv_init(void* buf, int64_t count, Datatype& type, int source, int tag, Comm& comm, Request*& request);
Err start(Request*& request);
Err startall(int64_t n, Request** requests);
// memory may be automatic_buffer, which detach returns; overhead: MPI_BSEND_OVERHEAD of the ABI
Err buffer_attach(void* memory, int64_t size, size_t overhead);
Err buffer_detach(void*& memory, int64_t& size);
Err buffer_flush();
Err buffer_iflush(Request*& request);
Err comm_attach_buffer(Comm& comm, void* memory, int64_t size);
Err comm_detach_buffer(Comm& comm, void*& memory, int64_t& size);
Err comm_flush_buffer(Comm& comm);
Err comm_iflush_buffer(Comm& comm, Request*& request);
Err session_attach_buffer(Session& session, void* memory, int64_t size);
Err session_detach_buffer(Session& session, void*& memory, int64_t& size);
Err session_flush_buffer(Session& session);
Err session_iflush_buffer(Session& session, Request*& request);
Err mprobe(int source, int tag, Comm& comm, Message*& message, Status* status);
Err improbe(int source, int tag, Comm& comm, bool& flag, Message*& message, Status* status);
Err mrecv(void* buf, int64_t count, Datatype& type, Message*& message, Status* status);
Err imrecv(void* buf, int64_t count, Datatype& type, Message*& message, Request*& request);
Err probe(int source, int tag, Comm& comm, Status* status);
Err iprobe(int source, int tag, Comm& comm, bool& flag, Status* status);
Err wait(Request*& request, Status* status);
Err test(Request*& request, bool& flag, Status* status);
Err waitall(int64_t n, Request** requests, Status* statuses);
Err testall(int64_t n, Request** requests, bool& flag, Status* statuses);
Err waitany(int64_t n, Request** requests, int& index, Status* status); // index undefined: none active
Err testany(int64_t n, Request** requests, int& index, bool& flag, Status* status);
Err waitsome(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses);
Err testsome(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses);
Err request_free(Request*& request);
Err request_get_status(Request* request, bool& flag, Status* status);
Err request_get_status_all(int64_t n, Request** requests, bool& flag, Status* statuses);
Err request_get_status_any(int64_t n, Request** requests, int& index, bool& flag, Status* status);
Err request_get_status_some(int64_t n, Request** requests, int& outcount, int* indices, Status* statuses);
Err cancel(Request& request);
Err get_count(const Status& status, Datatype& type, int64_t& count); // undefined if not a multiple

} // namespace zipmpi::core
