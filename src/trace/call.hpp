// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One recorded call. The generated functions MPI_x construct it, call PMPI_x, call finish(), and describe the
// messages of the call; the destructor adds the record.
#pragma once

#include "trace/library.hpp"
#include "trace/recording.hpp"

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

// 0 if the arguments are not significant in this call.
uint64_t bytes_of(MPI_Count count, MPI_Datatype datatype) noexcept;

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
    Statuses(int count, MPI_Status* given, const MPI_Status* ignored) noexcept;
    [[nodiscard]] MPI_Status* get() noexcept { return used_; }
    [[nodiscard]] const MPI_Status* known() const noexcept { return known_; } // null: none

  private:
    std::unique_ptr<MPI_Status[]> many_;
    MPI_Status one_;
    MPI_Status* used_;
    const MPI_Status* known_;
};

class Call {
  public:
    explicit Call(uint32_t function) noexcept;
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Takes the end time. True: the call succeeded and is recorded.
    [[nodiscard]] bool finish(int code) noexcept;

    void transfer(uint64_t bytes) noexcept { record_.bytes = bytes; }
    void send(MPI_Comm comm, int dest, int tag, uint64_t bytes) noexcept;
    void receive(MPI_Comm comm, const Statuses& status) noexcept;
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
    bool set_message(MPI_Comm comm, int peer) noexcept; // false: there is no peer
    void add_received(const PendingMessage& posted, const MPI_Status* status) noexcept;
    PendingMessage* add_pending(uintptr_t key, MPI_Comm comm, MessageKind kind) noexcept;

    wire::TraceRecord record_;
    bool recorded_;
};

// A communicator that a call has created, or is about to free.
void remember(MPI_Comm made) noexcept;
void remember(MPI_Comm made, MPI_Comm with_group_of) noexcept; // not complete yet
void forget(MPI_Comm comm) noexcept;
[[nodiscard]] CommRecord* comm_record(MPI_Comm comm) noexcept; // null: no room

// First call after initialization, last call before finalization.
void begin_recording() noexcept;
void end_recording() noexcept;
void abandon_recording() noexcept; // before an abort: without communication

} // namespace zipmpi::trace
