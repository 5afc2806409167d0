// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffered sends, and the buffers they use: one of the process, of each communicator, of each session.
#include "core/p2p.hpp"
#include "core/send_buffer.hpp"
#include "os/clock.hpp"
#include "proto/p2p/payload.hpp"
#include "proto/progress/wait.hpp"

#include <new>
#include <sched.h>

namespace zipmpi::core {
namespace {

using BufferOwner = std::unique_ptr<SendBuffer>;

BufferOwner& process_buffer() {
    static BufferOwner buffer;
    return buffer;
}

SendBuffer* buffer_for(const Comm& comm) {
    if (comm.send_buffer != nullptr) return comm.send_buffer.get();
    if (comm.session != nullptr && comm.session->send_buffer != nullptr)
        return comm.session->send_buffer.get();
    return process_buffer().get();
}

void delivered(proto::Operation& op) {
    auto& block = static_cast<SendBuffer::Block&>(op);
    Comm* comm = block.comm;
    --engine()->loose_sends;
    if (op.error != Err::success) block.home->note_failure(op.error);
    block.home->release(block);
    release(*comm);
}

Err attach(BufferOwner& owner, void* memory, int64_t size) {
    if (owner != nullptr)
        return fail(Err::buffer, "detach the buffer first, or attach one that is long enough for all",
                    "a buffer of %lld bytes is attached already", static_cast<long long>(owner->size()));
    if (memory == nullptr && size != 0)
        return fail(Err::buffer, "pass memory, or MPI_BUFFER_AUTOMATIC", "the buffer is a null pointer");
    const bool automatic = memory == automatic_buffer;
    owner.reset(new (std::nothrow) SendBuffer(automatic ? nullptr : memory, automatic ? 0 : size));
    return owner != nullptr ? Err::success : fail(Err::no_mem, "free memory", "no memory for a buffer");
}

Err not_attached() {
    return fail(Err::buffer, "attach a buffer before", "no buffer for buffered sends is attached here");
}

void wait_until_empty(const SendBuffer& buffer) {
    const proto::WaitNote note{[](const void* subject, uint32_t) -> const proto::Operation* {
                                   return static_cast<const SendBuffer*>(subject)->oldest();
                               },
                               &buffer, 1, 0};
    proto::wait_until(
        lane(), [&] { return buffer.empty(); }, note);
}

Err detach(BufferOwner& owner, void*& memory, int64_t& size) {
    if (owner == nullptr) return not_attached();
    wait_until_empty(*owner);
    memory = owner->automatic() ? automatic_buffer : owner->memory();
    size = owner->size();
    const Err failure = owner->take_failure();
    owner.reset();
    return failure;
}

Err flush(const BufferOwner& owner) {
    if (owner == nullptr) return Err::success;
    wait_until_empty(*owner);
    return owner->take_failure();
}

Err iflush(const BufferOwner& owner, Comm* comm, Request*& request) {
    request = make_request(comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) return no_request();
    request->role = Request::buffered;
    const auto flushed = [](void* subject) { complete_whole(*static_cast<Request*>(subject)); };
    owner != nullptr ? owner->when_flushed(flushed, request) : flushed(request);
    return Err::success;
}

// What has left frees its room: that may take until a receiver has emptied its queue, or, between hosts,
// until two ranks know each other, which is not counted up to a limit.
SendBuffer::Block* wait_for_room(SendBuffer& home, uint64_t bytes) {
    constexpr uint64_t patience = 1'000'000'000;
    constexpr uint64_t patience_with_strangers = 30 * patience;
    const uint64_t begin = os::now_ns();
    uint64_t until = begin + patience;
    for (;;) {
        lane().progress_all();
        SendBuffer::Block* const block = home.allocate(bytes);
        const uint64_t now = os::now_ns();
        const auto* const network = lane().network();
        if (network != nullptr && network->meets() && now < begin + patience_with_strangers)
            until = now + patience;
        if (block != nullptr || now >= until) return block;
        lane().step_out();
        sched_yield();
        lane().step_in();
    }
}

Err no_room(const SendBuffer* home, uint64_t bytes) {
    if (home == nullptr) return not_attached();
    return fail(Err::buffer,
                "attach a longer buffer (MPI_BSEND_OVERHEAD more per message), or MPI_BUFFER_AUTOMATIC",
                "a message of %llu bytes does not fit beside those under way: the buffer has %lld bytes",
                static_cast<unsigned long long>(bytes), static_cast<long long>(home->size()));
}

} // namespace

Err send_buffered(const proto::Operation& op, Comm& comm) {
    SendBuffer* home = buffer_for(comm);
    SendBuffer::Block* block = home != nullptr ? home->allocate(op.bytes) : nullptr;
    if (block == nullptr && home != nullptr) block = wait_for_room(*home, op.bytes);
    if (block == nullptr) return no_room(home, op.bytes);
    static_cast<proto::Operation&>(*block) = op;
    proto::load_payload(op, 0, block->bytes(), op.bytes);
    block->buffer = block->bytes();
    block->layout = nullptr;
    block->on_done = delivered;
    block->comm = &comm;
    hold(comm);
    ++engine()->loose_sends;
    lane().start_send(*block);
    return home->take_failure();
}

Err bsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm) {
    if (dest == proc_null) return Err::success;
    return send_buffered(send_of(buf, count, type, dest, tag, comm), comm);
}

Err ibsend(const void* buf, int64_t count, Datatype& type, int dest, int tag, Comm& comm, Request*& request) {
    if (dest == proc_null) return request_to_nobody(comm, type, request);
    const proto::Operation op = send_of(buf, count, type, dest, tag, comm);
    if (const Err e = send_buffered(op, comm); e != Err::success) return e;
    request = make_request(op, &comm, type);
    if (request == nullptr) return no_request();
    request->role = Request::buffered;
    request->complete = true;
    return Err::success;
}

Err buffer_attach(void* memory, int64_t size) { return attach(process_buffer(), memory, size); }
Err buffer_detach(void*& memory, int64_t& size) { return detach(process_buffer(), memory, size); }
Err buffer_flush() { return flush(process_buffer()); }
Err buffer_iflush(Request*& request) { return iflush(process_buffer(), nullptr, request); }

Err comm_attach_buffer(Comm& comm, void* memory, int64_t size) {
    return attach(comm.send_buffer, memory, size);
}
Err comm_detach_buffer(Comm& comm, void*& memory, int64_t& size) {
    return detach(comm.send_buffer, memory, size);
}
Err comm_flush_buffer(Comm& comm) { return flush(comm.send_buffer); }
Err comm_iflush_buffer(Comm& comm, Request*& request) { return iflush(comm.send_buffer, &comm, request); }

Err session_attach_buffer(Session& session, void* memory, int64_t size) {
    return attach(session.send_buffer, memory, size);
}
Err session_detach_buffer(Session& session, void*& memory, int64_t& size) {
    return detach(session.send_buffer, memory, size);
}
Err session_flush_buffer(Session& session) { return flush(session.send_buffer); }
Err session_iflush_buffer(Session& session, Request*& request) {
    return iflush(session.send_buffer, nullptr, request);
}

} // namespace zipmpi::core
