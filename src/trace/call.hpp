// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One recorded call. The generated functions MPI_x construct it, call PMPI_x, call finish(), and describe the
// messages of the call; the destructor adds the record.
#pragma once

#include "trace/library.hpp"
#include "trace/recording.hpp"

#include <cstring>
#include <memory>
#include <type_traits>

namespace zipmpi::trace {

// The integer value of a handle.
template <class Handle>
uintptr_t key_of(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<uintptr_t>(handle);
    else
        return static_cast<uintptr_t>(handle);
}

// Depth of calls inside calls: callbacks of the program.
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local int call_depth;

[[nodiscard]] uint64_t query_size(MPI_Datatype datatype) noexcept;

// 0 if the arguments are not significant in this call.
inline uint64_t bytes_of(MPI_Count count, MPI_Datatype datatype) noexcept {
    if (count <= 0) return 0;
    const uintptr_t key = key_of(datatype);
    const uint64_t known =
        key < small_handles ? recording.size_of_type(key).load(std::memory_order_relaxed) : uint64_t{0};
    return static_cast<uint64_t>(count) * (known != 0 ? known : query_size(datatype));
}

// Where the library stores the number of bytes in a status; the size of a status if it stores it otherwise.
[[nodiscard]] size_t find_bytes_in_status() noexcept;
[[nodiscard]] uint64_t query_received_bytes(const MPI_Status& status) noexcept;

inline uint64_t received_bytes(const MPI_Status& status) noexcept {
    const size_t at = recording.bytes_in_status();
    uint64_t bytes = UINT64_MAX;
    if (at < sizeof status) std::memcpy(&bytes, reinterpret_cast<const char*>(&status) + at, sizeof bytes);
    // A library may store larger numbers in another form.
    return bytes <= INT32_MAX ? bytes : query_received_bytes(status);
}

// The record of a communicator: null if there is no room for it.
[[nodiscard]] CommRecord* add_comm_record(MPI_Comm comm) noexcept;
[[nodiscard]] inline CommRecord* comm_record(MPI_Comm comm) noexcept {
    const Recording::Guard guard(recording);
    CommRecord* const known = recording.comms().find(key_of(comm));
    return known != nullptr ? known : add_comm_record(comm);
}

// Handles before a call that may free them.
class SavedRequests {
  public:
    SavedRequests(int count, const MPI_Request* requests) noexcept;
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] uintptr_t key(int i) const noexcept { return keys_[i]; }

  private:
    static constexpr int on_stack = 32;
    int size_;
    std::unique_ptr<uintptr_t[]> many_;
    uintptr_t few_[on_stack];
    uintptr_t* keys_;
};

// Statuses of a call: those of the caller, or own ones if the caller ignores them and the trace needs them.
class Statuses {
  public:
    Statuses(int count, MPI_Status* given, const MPI_Status* ignored) noexcept
        : used_(given)
        , known_(given != ignored ? given : nullptr) {
        if (given == ignored && recording.is_tracing()) use_own(count);
    }
    [[nodiscard]] MPI_Status* get() noexcept { return used_; }
    [[nodiscard]] const MPI_Status* known() const noexcept { return known_; } // null: none

  private:
    void use_own(int count) noexcept;

    std::unique_ptr<MPI_Status[]> many_;
    MPI_Status one_;
    MPI_Status* used_;
    const MPI_Status* known_;
};

// Inline what a blocking send or receive needs: its record stays in registers.
class Call {
  public:
    explicit Call(uint32_t function) noexcept
        : recorded_(recording.is_active()) {
        ++call_depth;
        if (!recorded_) return;
        record_.function = static_cast<uint16_t>(function);
        record_.start = ticks();
    }
    ~Call() {
        if (recorded_) recording.add(record_, call_depth);
        --call_depth;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Takes the end time. True: the call succeeded and is recorded.
    [[nodiscard]] bool finish(int code) noexcept {
        if (!recorded_) return false;
        record_.end = ticks();
        return code == MPI_SUCCESS;
    }

    void transfer(uint64_t bytes) noexcept { record_.bytes = bytes; }
    void send(MPI_Comm comm, int dest, int tag, uint64_t bytes) noexcept {
        record_.bytes = bytes;
        if (!set_message(comm, dest)) return;
        record_.tag = tag;
        record_.kind = static_cast<uint16_t>(wire::TraceKind::send);
    }
    void receive(MPI_Comm comm, const Statuses& status) noexcept {
        if (status.known() == nullptr || !recording.is_tracing()) return;
        const MPI_Status& s = *status.known();
        if (!set_message(comm, s.MPI_SOURCE)) return;
        record_.tag = s.MPI_TAG;
        record_.bytes = received_bytes(s);
        record_.kind = static_cast<uint16_t>(wire::TraceKind::receive);
    }
    void also_receive(MPI_Comm comm, const Statuses& status) noexcept; // in a call that sends
    void collective(wire::TraceKind kind, MPI_Comm comm, int root, uint64_t bytes) noexcept;

    void post(MPI_Request request, MPI_Comm comm) noexcept; // a receive
    void prepare_send(MPI_Request request, MPI_Comm comm, int dest, int tag, uint64_t bytes) noexcept;
    void prepare_receive(MPI_Request request, MPI_Comm comm) noexcept;
    void start(const SavedRequests& requests) noexcept;
    void complete(const SavedRequests& requests, int index, const MPI_Status* status) noexcept;
    void complete_all(const SavedRequests& requests, const Statuses& statuses) noexcept;
    void complete_some(const SavedRequests& requests, int count, const int* indices,
                       const Statuses& statuses) noexcept;
    void release(const SavedRequests& requests) noexcept;

    void match(MPI_Message message, MPI_Comm comm) noexcept;
    void receive_matched(MPI_Message message, const Statuses& status) noexcept;
    void post_matched(MPI_Message message, MPI_Request request) noexcept;

  private:
    bool set_message(MPI_Comm comm, int peer) noexcept { // false: there is no peer
        if (!recording.is_tracing()) return false;
        const CommRecord* const known = comm_record(comm);
        if (known == nullptr) return false;
        record_.comm = known->id;
        record_.peer = known->world_rank(peer);
        return record_.peer != wire::trace_no_peer;
    }
    void add_received(const PendingMessage& posted, const MPI_Status* status) noexcept;
    PendingMessage* add_pending(uintptr_t key, MPI_Comm comm, MessageKind kind) noexcept;

    wire::TraceRecord record_{
        .start = 0,
        .end = 0,
        .bytes = 0,
        .comm = 0,
        .peer = wire::trace_no_peer,
        .tag = 0,
        .function = 0,
        .kind = static_cast<uint16_t>(wire::TraceKind::call),
    };
    bool recorded_;
};

// A communicator that a call has created, or is about to free.
void remember(MPI_Comm made) noexcept;
void remember(MPI_Comm made, MPI_Comm with_group_of) noexcept; // not complete yet
void forget(MPI_Comm comm) noexcept;

// First call after initialization, last call before finalization.
void begin_recording() noexcept;
void end_recording() noexcept;
void abandon_recording() noexcept; // before an abort: without communication

} // namespace zipmpi::trace
