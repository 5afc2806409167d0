// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Plain messages: at most wire::multislot_max contiguous bytes to another rank of this node, received at once
// if they have at most wire::inline_max bytes, in a process in which only one thread calls MPI. An ABI
// binding executes them at its entry point, without an operation. Each function returns false without side
// effects if the message is not plain; the binding then calls the general function.
#pragma once

#include "base/recorder.hpp"
#include "core/comm/comm.hpp"
#include "core/request/request.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <atomic>

namespace zipmpi::core::plain {

inline constexpr uint64_t max_bytes = wire::inline_max;
inline constexpr uint64_t max_longer_bytes = wire::multislot_max; // of send_longer()

// The request of a send that is complete when its call returns; null until the first one. Read without the
// lock.
[[gnu::visibility("hidden")]] extern std::atomic<Request*> completed_send;

// Requests of completed plain receives, kept for the next ones: initialized except for the arguments and the
// communicator. For all others they are freed requests. Under the lock of the progress engine.
class SpareRequests {
  public:
    [[nodiscard]] bool empty() const { return first_ == nullptr; }
    [[nodiscard]] Request& first() const { return static_cast<Request&>(*first_); }
    // There is one.
    [[gnu::always_inline]] Request* take_first(Comm& comm) {
        Request& r = first();
        first_ = r.posted.link.chain;
        r.comm = &comm;
        add_ref(comm);
        r.cls = ObjectKind::request;
        return &r;
    }
    // Frees a plain request.
    [[gnu::always_inline]] void keep(Request& r) {
        r.cls = ObjectKind::none;
        r.reset();
        r.posted.link.chain = first_;
        first_ = &r;
        release(*r.comm);
    }

  private:
    proto::Operation* first_ = nullptr; // linked by posted.link.chain
};
[[gnu::visibility("hidden")]] extern SpareRequests spare_requests;

// Calls that may complete requests at the entry point. One in an interval does not, so that a program whose
// own messages always wait makes progress on everything else, too.
[[gnu::visibility("hidden")]] extern uint32_t completion_calls;
[[gnu::always_inline]] inline bool is_progress_due() noexcept {
    constexpr uint32_t interval = 32;
    return ++completion_calls % interval == 0;
}

// Whether MPI is initialized, needs no lock, and all buffers are in host memory. The dynamic linker may write
// the gate at any time.
[[gnu::always_inline]] inline bool is_possible() noexcept {
    return *static_cast<void* const volatile*>(hot::plain_gate.load(std::memory_order_relaxed)) == nullptr;
}

// Sends or receives without an entry in the flight recorder: for calls that have one. They hold the lock.
[[gnu::always_inline]] inline bool try_send(const void* buf, uint64_t bytes, int dest, int tag,
                                            const Comm& comm) noexcept {
    const proto::Team& team = comm.team;
    const wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, team.context, team.rank, tag, 0};
    return progress_engine().sender().try_send_inline(team.map.world(dest), e,
                                                      static_cast<const std::byte*>(buf), bytes);
}
// `wildcard`: the tag that matches any.
[[gnu::always_inline]] inline bool try_recv(void* buf, uint64_t capacity, int source, int& tag, int wildcard,
                                            const Comm& comm, uint64_t& bytes) noexcept {
    const proto::Team& team = comm.team;
    wire::Envelope e{wire::MessageKind::eager, 0, 0, 0, team.context, source, tag, 0};
    if (!progress_engine().receiver().try_recv_inline(team.map.world(source), e, static_cast<std::byte*>(buf),
                                                      capacity, wildcard))
        return false;
    tag = e.tag;
    bytes = e.inline_bytes;
    return true;
}

// `function` for the flight recorder; `dest` is a rank of the communicator, the tag is valid.
[[gnu::always_inline]] inline bool send(uint32_t function, const void* buf, uint64_t bytes, int dest, int tag,
                                        const Comm& comm) noexcept {
    if (!try_send(buf, bytes, dest, tag, comm)) [[unlikely]]
        return false;
    record_call(recorder(), function, dest, tag, comm.team.context);
    return true;
}

// As send(), for more than max_bytes, up to max_longer_bytes. Out of line, so that send() has fewer registers
// to save.
[[nodiscard]] bool send_longer(uint32_t function, const void* buf, uint64_t bytes, int dest, int tag,
                               const Comm& comm) noexcept;

// Receives from `source`, a rank of the communicator. On success sets tag and bytes of the message.
[[gnu::always_inline]] inline bool recv(uint32_t function, void* buf, uint64_t capacity, int source, int& tag,
                                        int wildcard, const Comm& comm, uint64_t& bytes) noexcept {
    if (!try_recv(buf, capacity, source, tag, wildcard, comm, bytes)) return false;
    record_call(recorder(), function, source, tag, comm.team.context);
    return true;
}

// Starts a receive of any length; `source` is a rank of the communicator. Null if memory is exhausted.
[[nodiscard]] Request* irecv(uint32_t function, void* buf, uint64_t capacity, int source, int tag,
                             Comm& comm);

// As irecv(), for a tag that is not any_tag, if a request is spare and the receive can be posted without a
// search. Null without side effects otherwise.
[[nodiscard]] [[gnu::always_inline]] inline Request*
try_irecv(uint32_t function, void* buf, uint64_t capacity, int source, int tag, Comm& comm) noexcept {
    proto::Matcher& matcher = progress_engine().receiver().matcher();
    if (spare_requests.empty() || matcher.unexpected().count() != 0) [[unlikely]]
        return nullptr;
    proto::set_recv_from_rank(spare_requests.first(), comm.team, buf, capacity, source, tag);
    if (!matcher.try_post_exact(spare_requests.first())) [[unlikely]]
        return nullptr;
    Request* const request = spare_requests.take_first(comm);
    record_call(recorder(), function, source, tag, comm.team.context);
    return request;
}

// Whether the request is plain and has completed without an error, if necessary with the message that waits
// in its ring.
[[gnu::always_inline]] inline bool try_complete(Request& r) noexcept {
    if (!r.plain) return false;
    if (!r.done()) progress_engine().receiver().receive_ready(r.world_peer);
    return r.done() && r.error == Err::success && !r.cancelled;
}

// Frees a request of which try_complete() returned true.
[[gnu::always_inline]] inline void free_completed(Request& r) noexcept {
    if (!r.shared) spare_requests.keep(r);
}

} // namespace zipmpi::core::plain
