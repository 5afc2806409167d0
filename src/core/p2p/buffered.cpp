// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffered sends and their buffers: one per process, communicator and session.
#include "core/api/p2p.hpp"
#include "core/p2p/bsend_buffer.hpp"
#include "core/p2p/p2p.hpp"
#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/progress/wait.hpp"

#include <new>
#include <sched.h>

namespace zipmpi::core {
namespace {

using BsendBufferPtr = std::unique_ptr<BsendBuffer>;

BsendBufferPtr& process_buffer() {
    static BsendBufferPtr buffer;
    return buffer;
}

BsendBuffer* buffer_for(const Comm& comm) {
    if (comm.bsend_buffer != nullptr) return comm.bsend_buffer.get();
    if (comm.session != nullptr && comm.session->bsend_buffer != nullptr)
        return comm.session->bsend_buffer.get();
    return process_buffer().get();
}

void on_delivered(proto::Operation& op) {
    auto& block = static_cast<BsendBuffer::BsendBlock&>(op);
    Comm* comm = block.comm;
    --runtime()->detached_sends;
    if (op.error != Err::success) block.owner->record_failure(op.error);
    block.owner->release(block);
    release(*comm);
}

Err attach(BsendBufferPtr& owner, void* memory, int64_t size, size_t overhead = BsendBuffer::bsend_overhead) {
    if (owner != nullptr)
        return fail(Err::buffer,
                    "detach the buffer first, or attach one that is large enough for all messages",
                    "a buffer of %lld bytes is already attached", static_cast<long long>(owner->size()));
    if (memory == nullptr && size != 0)
        return fail(Err::buffer, "pass memory, or MPI_BUFFER_AUTOMATIC", "the buffer is a null pointer");
    const bool automatic = memory == automatic_buffer;
    owner.reset(new (std::nothrow) BsendBuffer(automatic ? nullptr : memory, automatic ? 0 : size, overhead));
    return owner != nullptr ? Err::success : fail(Err::no_mem, "free memory", "no memory for a buffer");
}

Err not_attached() {
    return fail(Err::buffer, "attach a buffer first", "no buffer for buffered sends is attached");
}

void wait_until_empty(const BsendBuffer& buffer) {
    const proto::WaitInfo wait_info{[](const void* subject, uint32_t) -> const proto::Operation* {
                                        return static_cast<const BsendBuffer*>(subject)->oldest();
                                    },
                                    &buffer, 1, 0};
    proto::wait_until(
        progress_engine(), [&] { return buffer.empty(); }, wait_info);
}

Err detach(BsendBufferPtr& owner, void*& memory, int64_t& size) {
    if (owner == nullptr) return not_attached();
    wait_until_empty(*owner);
    memory = owner->automatic() ? automatic_buffer : owner->memory();
    size = owner->size();
    const Err failure = owner->take_failure();
    owner.reset();
    return failure;
}

Err flush(const BsendBufferPtr& owner) {
    if (owner == nullptr) return Err::success;
    wait_until_empty(*owner);
    return owner->take_failure();
}

Err iflush(const BsendBufferPtr& owner, Comm* comm, Request*& request) {
    request = make_request(comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) return request_alloc_error();
    request->role = Request::buffered;
    const auto flushed = [](void* subject) { complete_request(*static_cast<Request*>(subject)); };
    owner != nullptr ? owner->on_flushed(flushed, request) : flushed(request);
    return Err::success;
}

// Waits until completed messages release space: this may take until a receiver has emptied its queue, or,
// between hosts, until the connection is established, which has no limit here.
BsendBuffer::BsendBlock* wait_for_space(BsendBuffer& buffer, uint64_t bytes) {
    constexpr uint64_t timeout = 1'000'000'000;
    constexpr uint64_t connect_timeout = 30 * timeout;
    const uint64_t begin = os::now_ns();
    uint64_t until = begin + timeout;
    for (;;) {
        progress_engine().progress_all();
        BsendBuffer::BsendBlock* const block = buffer.allocate(bytes);
        const uint64_t now = os::now_ns();
        const auto* const network = progress_engine().network();
        if (network != nullptr && network->has_pending_handshakes() && now < begin + connect_timeout)
            until = now + timeout;
        if (block != nullptr || now >= until) return block;
        progress_engine().engine_lock().unlock_for_wait();
        sched_yield();
        progress_engine().engine_lock().relock();
    }
}

Err no_buffer_space(const BsendBuffer* buffer, uint64_t bytes) {
    if (buffer == nullptr) return not_attached();
    return fail(Err::buffer,
                "attach a larger buffer (MPI_BSEND_OVERHEAD per message in addition to its data), or "
                "MPI_BUFFER_AUTOMATIC",
                "a message of %llu bytes does not fit next to those in flight: the buffer has %lld bytes",
                static_cast<unsigned long long>(bytes), static_cast<long long>(buffer->size()));
}

} // namespace

Err send_buffered(const proto::Operation& op, Comm& comm) {
    BsendBuffer* buffer = buffer_for(comm);
    BsendBuffer::BsendBlock* block = buffer != nullptr ? buffer->allocate(op.bytes) : nullptr;
    if (block == nullptr && buffer != nullptr) block = wait_for_space(*buffer, op.bytes);
    if (block == nullptr) return no_buffer_space(buffer, op.bytes);
    static_cast<proto::Operation&>(*block) = op;
    proto::load_payload(op, 0, block->bytes(), op.bytes);
    block->buffer = block->bytes();
    block->layout = nullptr;
    block->on_done = on_delivered;
    block->comm = &comm;
    add_ref(comm);
    ++runtime()->detached_sends;
    progress_engine().start_send(*block);
    return buffer->take_failure();
}

Err bsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm) {
    if (dest == proc_null) return Err::success;
    return send_buffered(make_send_op(buf, count, type, dest, tag, comm), comm);
}

Err ibsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request) {
    if (dest == proc_null) return make_proc_null_request(comm, type, request);
    const proto::Operation op = make_send_op(buf, count, type, dest, tag, comm);
    if (const Err e = send_buffered(op, comm); e != Err::success) return e;
    request = make_request(op, &comm, type);
    if (request == nullptr) return request_alloc_error();
    request->role = Request::buffered;
    request->complete = true;
    return Err::success;
}

Err buffer_attach(void* memory, int64_t size, size_t overhead) {
    return attach(process_buffer(), memory, size, overhead);
}
Err buffer_detach(void*& memory, int64_t& size) { return detach(process_buffer(), memory, size); }
Err buffer_flush() { return flush(process_buffer()); }
Err buffer_iflush(Request*& request) { return iflush(process_buffer(), nullptr, request); }

Err comm_attach_buffer(Comm& comm, void* memory, int64_t size) {
    return attach(comm.bsend_buffer, memory, size);
}
Err comm_detach_buffer(Comm& comm, void*& memory, int64_t& size) {
    return detach(comm.bsend_buffer, memory, size);
}
Err comm_flush_buffer(Comm& comm) { return flush(comm.bsend_buffer); }
Err comm_iflush_buffer(Comm& comm, Request*& request) { return iflush(comm.bsend_buffer, &comm, request); }

Err session_attach_buffer(Session& session, void* memory, int64_t size) {
    return attach(session.bsend_buffer, memory, size);
}
Err session_detach_buffer(Session& session, void*& memory, int64_t& size) {
    return detach(session.bsend_buffer, memory, size);
}
Err session_flush_buffer(Session& session) { return flush(session.bsend_buffer); }
Err session_iflush_buffer(Session& session, Request*& request) {
    return iflush(session.bsend_buffer, nullptr, request);
}

} // namespace zipmpi::core
