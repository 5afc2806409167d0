// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point fast path: plain messages (core/p2p/plain.hpp) of predefined datatypes. Each function
// returns whether the call is done; if not, it had no side effects, and the entry point continues with its
// full checks. `function` is the id of the call for the flight recorder.
#pragma once

#include "abi/entry.hpp"
#include "abi/predefined_types.hpp"
#include "core/p2p/plain.hpp"

namespace zipmpi::abi::p2p_fast {

// Bytes of the message; UINT64_MAX if the buffer is not covered.
template <class Count>
[[gnu::always_inline]] inline uint64_t bytes_of_buffer(const void* buf, Count count,
                                                       MPI_Datatype type) noexcept {
    const unsigned size = predefined_size(type);
    // An int needs no upper limit: the product has 64 bits.
    const bool small = sizeof count == sizeof(int) ? count >= 0 : static_cast<uint64_t>(count) < UINT32_MAX;
    const bool covered = size != 0 && is_memory(buf) && small;
    return covered ? static_cast<uint64_t>(count) * size : UINT64_MAX;
}

// The communicator if this rank belongs to it, or null.
[[gnu::always_inline]] inline core::Comm* find_comm(MPI_Comm comm, int rank) noexcept {
    if (!core::plain::is_possible()) [[unlikely]]
        return nullptr;
    core::Comm* const c = find<core::Comm>(comm);
    return c != nullptr && Entry::in_group(rank, *c) ? c : nullptr;
}

[[gnu::always_inline]] inline bool is_recv_tag(int tag) noexcept {
    if (tag >= 0) [[likely]]
        return true;
    return tag == MPI_ANY_TAG;
}

template <class Count>
[[gnu::always_inline]] inline bool send(uint32_t function, const void* buf, Count count, MPI_Datatype type,
                                        int dest, int tag, MPI_Comm comm) noexcept {
    const core::Comm* const c = find_comm(comm, dest);
    if (c == nullptr || tag < 0) [[unlikely]]
        return false;
    const uint64_t bytes = bytes_of_buffer(buf, count, type);
    if (bytes <= core::plain::max_bytes) [[likely]]
        return core::plain::send(function, buf, bytes, dest, tag, *c);
    return bytes <= core::plain::max_longer_bytes &&
           core::plain::send_longer(function, buf, bytes, dest, tag, *c);
}

template <class Count>
[[gnu::always_inline]] inline bool isend(uint32_t function, const void* buf, Count count, MPI_Datatype type,
                                         int dest, int tag, MPI_Comm comm, MPI_Request* request) noexcept {
    core::Request* const completed = core::plain::completed_send.load(std::memory_order_acquire);
    if (request == nullptr || completed == nullptr || !send(function, buf, count, type, dest, tag, comm))
        [[unlikely]]
        return false;
    *request = handle_of(completed);
    return true;
}

template <class Count>
[[gnu::always_inline]] inline bool recv(uint32_t function, void* buf, Count count, MPI_Datatype type,
                                        int source, int tag, MPI_Comm comm, MPI_Status* status) noexcept {
    const core::Comm* const c = find_comm(comm, source);
    if (c == nullptr || !is_recv_tag(tag)) [[unlikely]]
        return false;
    const uint64_t capacity = bytes_of_buffer(buf, count, type);
    uint64_t bytes = 0;
    if (capacity == UINT64_MAX ||
        !core::plain::recv(function, buf, capacity, source, tag, MPI_ANY_TAG, *c, bytes)) [[unlikely]]
        return false;
    if (status != MPI_STATUS_IGNORE) put_received(source, tag, static_cast<int64_t>(bytes), *status);
    return true;
}

template <class Count>
[[gnu::always_inline]] inline bool irecv(uint32_t function, void* buf, Count count, MPI_Datatype type,
                                         int source, int tag, MPI_Comm comm, MPI_Request* request) noexcept {
    core::Comm* const c = find_comm(comm, source);
    if (c == nullptr || request == nullptr) [[unlikely]]
        return false;
    const uint64_t capacity = bytes_of_buffer(buf, count, type);
    if (capacity == UINT64_MAX) [[unlikely]]
        return false;
    if (tag >= 0) [[likely]] {
        core::Request* const made = core::plain::try_irecv(function, buf, capacity, source, tag, *c);
        if (made != nullptr) [[likely]] {
            *request = handle_of(made);
            return true;
        }
    } else if (tag == MPI_ANY_TAG) {
        tag = core::any_tag;
    } else {
        return false;
    }
    core::Request* const made = core::plain::irecv(function, buf, capacity, source, tag, *c);
    if (made == nullptr) [[unlikely]]
        return false;
    *request = handle_of(made);
    return true;
}

// The request if it is plain and complete, or can be completed by the message that waits for it, or null.
[[gnu::always_inline]] inline core::Request* find_completed(MPI_Request handle) noexcept {
    core::Request* const r = find<core::Request>(handle);
    return r != nullptr && core::plain::try_complete(*r) ? r : nullptr;
}

// The status of a request that find_completed() returned.
[[gnu::always_inline]] inline void put_completed(const core::Request& r, MPI_Status& to) noexcept {
    if (r.shared) return put_status({}, to); // a send
    put_received(r.matched_source, r.matched_tag, static_cast<int64_t>(r.received), to);
}

// Whether the completion call may take the fast path.
[[gnu::always_inline]] inline bool may_complete() noexcept {
    return core::plain::is_possible() && !core::plain::is_progress_due();
}

[[gnu::always_inline]] inline bool wait(uint32_t function, MPI_Request* request,
                                        MPI_Status* status) noexcept {
    if (request == nullptr || !may_complete()) [[unlikely]]
        return false;
    core::Request* const r = find_completed(*request);
    if (r == nullptr) return false;
    if (status != MPI_STATUS_IGNORE) put_completed(*r, *status);
    core::plain::free_completed(*r);
    *request = MPI_REQUEST_NULL;
    record_call(recorder(), function, recorder_none, recorder_none, 0);
    return true;
}

[[gnu::always_inline]] inline bool test(uint32_t function, MPI_Request* request, int* flag,
                                        MPI_Status* status) noexcept {
    if (flag == nullptr || !wait(function, request, status)) return false;
    *flag = 1;
    return true;
}

// Two passes: the first one completes receives without the user noticing, and may stop anywhere.
[[gnu::always_inline]] inline bool waitall(uint32_t function, int count, MPI_Request requests[],
                                           MPI_Status* statuses) noexcept {
    constexpr unsigned most = 64;
    if (static_cast<unsigned>(count) > most || requests == nullptr || !may_complete()) [[unlikely]]
        return false;
    core::Request* completed[most];
    for (int i = 0; i < count; ++i) {
        completed[i] = nullptr;
        if (requests[i] == MPI_REQUEST_NULL) continue;
        completed[i] = find_completed(requests[i]);
        if (completed[i] == nullptr) return false;
    }
    for (int i = 0; i < count; ++i) {
        core::Request* const r = completed[i];
        if (r == nullptr) {
            if (statuses != MPI_STATUSES_IGNORE) put_status({}, statuses[i]);
            continue;
        }
        if (statuses != MPI_STATUSES_IGNORE) put_completed(*r, statuses[i]);
        core::plain::free_completed(*r);
        requests[i] = MPI_REQUEST_NULL;
    }
    record_call(recorder(), function, recorder_none, recorder_none, 0);
    return true;
}

} // namespace zipmpi::abi::p2p_fast
