// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace/call.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace zipmpi::trace {
namespace {

using wire::TraceKind;

// Calls inside calls: callbacks of the program.
[[gnu::tls_model("initial-exec")]] thread_local int depth = 0;

int32_t world_rank(const CommRecord& comm, int rank) noexcept {
    if (rank < 0 || rank >= comm.size) return wire::trace_no_peer; // MPI_PROC_NULL, MPI_ROOT
    return comm.world_ranks != nullptr ? comm.world_ranks[rank] : rank;
}

[[gnu::cold]] uint64_t query_received_bytes(const MPI_Status& status) noexcept {
    static const auto get_elements = find<decltype(&PMPI_Get_elements_x)>("PMPI_Get_elements_x");
    MPI_Count bytes = 0;
    return get_elements(&status, predefined().byte, &bytes) == MPI_SUCCESS && bytes > 0
               ? static_cast<uint64_t>(bytes)
               : 0;
}

uint64_t number_at(const MPI_Status& status, size_t offset) noexcept {
    uint64_t number = 0;
    std::memcpy(&number, reinterpret_cast<const char*>(&status) + offset, sizeof number);
    return number;
}

// Where the library stores the number of bytes in a status, found by a status with a known number; the size
// of a status if it stores it otherwise.
size_t find_bytes_in_status() noexcept {
    static const auto set_elements =
        find<decltype(&PMPI_Status_set_elements_x)>("PMPI_Status_set_elements_x");
    constexpr MPI_Count known = 0x1234567;
    MPI_Status status{};
    if (set_elements(&status, predefined().byte, known) == MPI_SUCCESS)
        for (size_t at = 0; at + sizeof known <= sizeof status; at += sizeof(int))
            if (number_at(status, at) == static_cast<uint64_t>(known)) return at;
    return sizeof status;
}

uint64_t received_bytes(const MPI_Status& status) noexcept {
    static const size_t bytes_at = find_bytes_in_status();
    const uint64_t bytes = bytes_at < sizeof status ? number_at(status, bytes_at) : UINT64_MAX;
    // A library may store larger numbers in another form.
    return bytes <= INT32_MAX ? bytes : query_received_bytes(status);
}

[[gnu::noinline]] uint64_t query_size(MPI_Datatype datatype) noexcept {
    static const auto type_size = find<decltype(&PMPI_Type_size_x)>("PMPI_Type_size_x");
    MPI_Count size = 0;
    if (datatype == predefined().null_datatype || type_size(datatype, &size) != MPI_SUCCESS) return 0;
    if (key_of(datatype) < small_handles && size <= UINT8_MAX)
        recording.size_of_type(key_of(datatype)).store(static_cast<uint8_t>(size), std::memory_order_relaxed);
    return static_cast<uint64_t>(size);
}

} // namespace

uint64_t bytes_of(MPI_Count count, MPI_Datatype datatype) noexcept {
    if (count <= 0) return 0;
    const uintptr_t key = key_of(datatype);
    const uint64_t known =
        key < small_handles ? recording.size_of_type(key).load(std::memory_order_relaxed) : uint64_t{0};
    return static_cast<uint64_t>(count) * (known != 0 ? known : query_size(datatype));
}

SavedRequests::SavedRequests(int count, const MPI_Request* requests) noexcept
    : size_(recording.is_tracing() ? std::max(count, 0) : 0)
    , many_(size_ > on_stack ? new (std::nothrow) uintptr_t[static_cast<size_t>(size_)] : nullptr)
    , keys_(size_ > on_stack ? many_.get() : few_) {
    if (keys_ == nullptr) size_ = 0;
    for (int i = 0; i < size_; ++i) keys_[i] = key_of(requests[i]);
}

Statuses::Statuses(int count, MPI_Status* given, const MPI_Status* ignored) noexcept
    : used_(given)
    , known_(given != ignored ? given : nullptr) {
    if (given != ignored || !recording.is_tracing() || count <= 0) return;
    if (count > 1) many_.reset(new (std::nothrow) MPI_Status[static_cast<size_t>(count)]);
    MPI_Status* const own = count > 1 ? many_.get() : &one_;
    if (own == nullptr) return;
    known_ = used_ = own;
}

Call::Call(uint32_t function) noexcept
    : recorded_(recording.is_active()) {
    ++depth;
    if (!recorded_) return;
    record_ = {0,
               0,
               0,
               0,
               wire::trace_no_peer,
               0,
               static_cast<uint16_t>(function),
               static_cast<uint16_t>(TraceKind::call)};
    record_.start = ticks();
}

bool Call::finish(int code) noexcept {
    if (!recorded_) return false;
    record_.end = ticks();
    return code == MPI_SUCCESS;
}

Call::~Call() {
    if (recorded_) {
        const Recording::Guard guard(recording);
        if (recording.is_active()) {
            if (recording.is_profiling())
                recording.add_call(record_.function, record_.start, record_.end, record_.bytes, depth);
            if (recording.is_tracing()) recording.file().add(record_);
        }
    }
    --depth;
}

bool Call::set_message(MPI_Comm comm, int peer) noexcept {
    if (!recording.is_tracing()) return false;
    const CommRecord* const known = comm_record(comm);
    if (known == nullptr) return false;
    record_.comm = known->id;
    record_.peer = world_rank(*known, peer);
    return record_.peer != wire::trace_no_peer;
}

void Call::send(MPI_Comm comm, int dest, int tag, uint64_t bytes) noexcept {
    record_.bytes = bytes;
    if (!set_message(comm, dest)) return;
    record_.tag = tag;
    record_.kind = static_cast<uint16_t>(TraceKind::send);
}

void Call::receive(MPI_Comm comm, const Statuses& status) noexcept {
    if (status.known() == nullptr || !recording.is_tracing()) return;
    const MPI_Status& s = *status.known();
    if (record_.kind == static_cast<uint16_t>(TraceKind::send)) { // a call that also sends
        const CommRecord* const known = comm_record(comm);
        if (known == nullptr) return;
        const Recording::Guard guard(recording);
        return add_received(
            {record_.start, 0, known->id, 0, 0, record_.function, MessageKind::receive, false, key_of(comm)},
            &s);
    }
    if (!set_message(comm, s.MPI_SOURCE)) return;
    record_.tag = s.MPI_TAG;
    record_.bytes = received_bytes(s);
    record_.kind = static_cast<uint16_t>(TraceKind::receive);
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
    added->peer = world_rank(*comm_record(comm), dest);
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
    const int32_t peer = world_rank(*comm, status->MPI_SOURCE);
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
