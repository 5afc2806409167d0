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
    const bool covered = size != 0 && is_memory(buf) && static_cast<uint64_t>(count) < UINT32_MAX;
    return covered ? static_cast<uint64_t>(count) * size : UINT64_MAX;
}

// The communicator if this rank belongs to it, or null.
[[gnu::always_inline]] inline core::Comm* find_comm(MPI_Comm comm, int rank) noexcept {
    if (!core::plain::is_possible()) [[unlikely]]
        return nullptr;
    core::Comm* const c = find<core::Comm>(comm);
    return c != nullptr && Entry::in_group(rank, *c) ? c : nullptr;
}

// Converts the tag of a receive to that of core. Returns false if it is invalid.
[[gnu::always_inline]] inline bool convert_tag(int& tag) noexcept {
    if (tag >= 0) [[likely]]
        return true;
    if (tag != MPI_ANY_TAG) return false;
    tag = core::any_tag;
    return true;
}

template <class Count>
[[gnu::always_inline]] inline bool send(uint32_t function, const void* buf, Count count, MPI_Datatype type,
                                        int dest, int tag, MPI_Comm comm) noexcept {
    const core::Comm* const c = find_comm(comm, dest);
    const uint64_t bytes = bytes_of_buffer(buf, count, type);
    if (c == nullptr || tag < 0) [[unlikely]]
        return false;
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
    const uint64_t capacity = bytes_of_buffer(buf, count, type);
    uint64_t bytes = 0;
    if (c == nullptr || capacity == UINT64_MAX || !convert_tag(tag) ||
        !core::plain::recv(function, buf, capacity, source, tag, *c, bytes)) [[unlikely]]
        return false;
    if (status != MPI_STATUS_IGNORE)
        put_status({source, tag, Err::success, false, static_cast<int64_t>(bytes)}, *status);
    return true;
}

template <class Count>
[[gnu::always_inline]] inline bool irecv(uint32_t function, void* buf, Count count, MPI_Datatype type,
                                         int source, int tag, MPI_Comm comm, MPI_Request* request) noexcept {
    core::Comm* const c = find_comm(comm, source);
    const uint64_t capacity = bytes_of_buffer(buf, count, type);
    if (c == nullptr || capacity == UINT64_MAX || !convert_tag(tag) || request == nullptr) [[unlikely]]
        return false;
    core::Request* const made = core::plain::irecv(function, buf, capacity, source, tag, *c);
    if (made == nullptr) [[unlikely]]
        return false;
    *request = handle_of(made);
    return true;
}

} // namespace zipmpi::abi::p2p_fast
