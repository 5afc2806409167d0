// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/call.hpp"

#include <algorithm>
#include <new>

namespace zipmpi::trace {

using wire::TraceKind;

constinit thread_local int call_depth = 0;

[[gnu::cold]] uint64_t query_received_bytes(const MPI_Status& status) noexcept {
    static const auto get_elements = find<decltype(&PMPI_Get_elements_x)>("PMPI_Get_elements_x");
    MPI_Count bytes = 0;
    return get_elements(&status, predefined().byte, &bytes) == MPI_SUCCESS && bytes > 0
               ? static_cast<uint64_t>(bytes)
               : 0;
}

// By a status with a known number.
size_t find_bytes_in_status() noexcept {
    static const auto set_elements =
        find<decltype(&PMPI_Status_set_elements_x)>("PMPI_Status_set_elements_x");
    constexpr MPI_Count known = 0x1234567;
    MPI_Status status{};
    if (set_elements(&status, predefined().byte, known) != MPI_SUCCESS) return sizeof status;
    size_t at = 0;
    for (; at + sizeof known <= sizeof status; at += sizeof(int))
        if (std::memcmp(reinterpret_cast<const char*>(&status) + at, &known, sizeof known) == 0) return at;
    return sizeof status;
}

uint64_t query_size(MPI_Datatype datatype) noexcept {
    static const auto type_size = find<decltype(&PMPI_Type_size_x)>("PMPI_Type_size_x");
    MPI_Count size = 0;
    if (datatype == predefined().null_datatype || type_size(datatype, &size) != MPI_SUCCESS) return 0;
    if (key_of(datatype) < small_handles && size <= UINT8_MAX)
        recording.size_of_type(key_of(datatype)).store(static_cast<uint8_t>(size), std::memory_order_relaxed);
    return static_cast<uint64_t>(size);
}

SavedRequests::SavedRequests(int count, const MPI_Request* requests) noexcept
    : size_(recording.is_tracing() ? std::max(count, 0) : 0)
    , many_(size_ > on_stack ? new (std::nothrow) uintptr_t[static_cast<size_t>(size_)] : nullptr)
    , keys_(size_ > on_stack ? many_.get() : few_) {
    if (keys_ == nullptr) size_ = 0;
    for (int i = 0; i < size_; ++i) keys_[i] = key_of(requests[i]);
}

void Statuses::use_own(int count) noexcept {
    if (count <= 0) return;
    if (count > 1) many_.reset(new (std::nothrow) MPI_Status[static_cast<size_t>(count)]);
    MPI_Status* const own = count > 1 ? many_.get() : &one_;
    if (own == nullptr) return;
    known_ = used_ = own;
}

void Call::also_receive(MPI_Comm comm, const Statuses& status) noexcept {
    if (status.known() == nullptr || !recording.is_tracing()) return;
    if (record_.kind != static_cast<uint16_t>(TraceKind::send))
        return receive(comm, status); // sent to MPI_PROC_NULL
    const CommRecord* const known = comm_record(comm);
    if (known == nullptr) return;
    const Recording::Guard guard(recording);
    add_received(
        {record_.start, 0, known->id, 0, 0, record_.function, MessageKind::receive, false, key_of(comm)},
        status.known());
}

void Call::collective(TraceKind kind, MPI_Comm comm, int root, uint64_t bytes) noexcept {
    record_.bytes = bytes;
    set_message(comm, root);
    record_.kind = static_cast<uint16_t>(record_.comm != 0 ? kind : TraceKind::call);
}

PendingMessage* Call::add_pending(uintptr_t key, MPI_Comm comm, MessageKind kind) noexcept {
    if (!recording.is_tracing()) return nullptr;
    const CommRecord* const known = comm_record(comm);
    const Recording::Guard guard(recording);
    PendingMessage* const added = known != nullptr ? recording.pending().insert(key) : nullptr;
    if (added == nullptr) {
        recording.file().count_untracked();
        return nullptr;
    }
    *added = {record_.start,    0,    known->id, wire::trace_no_peer, 0,
              record_.function, kind, false,     key_of(comm)};
    return added;
}

void Call::post(MPI_Request request, MPI_Comm comm) noexcept {
    add_pending(key_of(request), comm, MessageKind::receive);
}

void Call::prepare_receive(MPI_Request request, MPI_Comm comm) noexcept {
    PendingMessage* const added = add_pending(key_of(request), comm, MessageKind::receive);
    if (added != nullptr) added->persistent = true;
}

void Call::prepare_send(MPI_Request request, MPI_Comm comm, int dest, int tag, uint64_t bytes) noexcept {
    PendingMessage* const added = add_pending(key_of(request), comm, MessageKind::send);
    if (added == nullptr) return;
    added->persistent = true;
    added->peer = comm_record(comm)->world_rank(dest);
    added->tag = tag;
    added->bytes = bytes;
}

void Call::start(const SavedRequests& requests) noexcept {
    const Recording::Guard guard(recording);
    for (int i = 0; i < requests.size(); ++i) {
        PendingMessage* const p = recording.pending().find(requests.key(i));
        if (p == nullptr) continue;
        p->start = record_.start;
        if (p->kind == MessageKind::send && p->peer != wire::trace_no_peer)
            recording.file().add({record_.start, record_.end, p->bytes, p->comm, p->peer, p->tag,
                                  record_.function, static_cast<uint16_t>(TraceKind::sent)});
    }
}

void Call::add_received(const PendingMessage& posted, const MPI_Status* status) noexcept {
    CommRecord* const comm = recording.comms().find(posted.comm_handle);
    if (status == nullptr || comm == nullptr) return;
    const int32_t peer = comm->world_rank(status->MPI_SOURCE);
    if (peer == wire::trace_no_peer) return;
    recording.file().add({posted.start, record_.end, received_bytes(*status), posted.comm, peer,
                          status->MPI_TAG, record_.function, static_cast<uint16_t>(TraceKind::received)});
}

void Call::complete(const SavedRequests& requests, int index, const MPI_Status* status) noexcept {
    if (index < 0 || index >= requests.size()) return; // MPI_UNDEFINED
    const Recording::Guard guard(recording);
    PendingMessage* const p = recording.pending().find(requests.key(index));
    if (p == nullptr) return;
    if (p->kind == MessageKind::receive) add_received(*p, status);
    if (!p->persistent) recording.pending().erase(requests.key(index));
}

void Call::complete_all(const SavedRequests& requests, const Statuses& statuses) noexcept {
    for (int i = 0; i < requests.size(); ++i)
        complete(requests, i, statuses.known() != nullptr ? statuses.known() + i : nullptr);
}

void Call::complete_some(const SavedRequests& requests, int count, const int* indices,
                         const Statuses& statuses) noexcept {
    for (int i = 0; i < count; ++i)
        complete(requests, indices[i], statuses.known() != nullptr ? statuses.known() + i : nullptr);
}

void Call::release(const SavedRequests& requests) noexcept {
    const Recording::Guard guard(recording);
    for (int i = 0; i < requests.size(); ++i) recording.pending().erase(requests.key(i));
}

void Call::match(MPI_Message message, MPI_Comm comm) noexcept {
    add_pending(~key_of(message), comm, MessageKind::matched_probe); // handles of requests may be equal
}

void Call::receive_matched(MPI_Message message, const Statuses& status) noexcept {
    const Recording::Guard guard(recording);
    PendingMessage* const p = recording.pending().find(~key_of(message));
    if (p == nullptr || !recording.is_tracing()) return;
    add_received(*p, status.known());
    recording.pending().erase(~key_of(message));
}

void Call::post_matched(MPI_Message message, MPI_Request request) noexcept {
    const Recording::Guard guard(recording);
    PendingMessage* const p = recording.pending().find(~key_of(message));
    if (p == nullptr) return;
    PendingMessage moved = *p;
    moved.kind = MessageKind::receive;
    recording.pending().erase(~key_of(message));
    PendingMessage* const added = recording.pending().insert(key_of(request));
    if (added != nullptr) *added = moved;
}

} // namespace zipmpi::trace
