// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The library state of this process, and what an ABI binding needs around each call: phase, lock and error
// handling.
#pragma once

#include "base/err.hpp"
#include "core/builtin.hpp"
#include "core/object.hpp"

#include <atomic>
#include <string>

namespace zipmpi::core {

enum class Phase : int { before_init, running, after_finalize, forked_child };

// Read by every call, at the cost of a load and a compare.
namespace hot {
[[gnu::visibility("hidden")]] extern std::atomic<Phase> phase;
[[gnu::visibility("hidden")]] extern std::atomic<bool>
    locking; // calls from several threads, or a progress thread exists
[[gnu::visibility("hidden")]] extern std::atomic<bool>
    device_buffers; // buffers may be in the memory of devices
// Derived from those above: MPI is running without device buffers.
[[gnu::visibility("hidden")]] extern std::atomic<bool> host_only;
// Points to null if MPI is running without locking, and no buffer can be in device memory yet.
[[gnu::visibility("hidden")]] extern std::atomic<void* const*> plain_gate;
} // namespace hot
inline Phase phase() noexcept { return hot::phase.load(std::memory_order_relaxed); }
// Whether calls must determine the memory of their buffers (core/device/call_buffers.hpp).
inline bool may_have_device_buffers() noexcept { return hot::device_buffers.load(std::memory_order_relaxed); }

// Each sets one of the values above.
void set_phase(Phase phase) noexcept;
void set_locking(bool locking) noexcept;
// Buffers may be in device memory, but not while *load is null. Called before MPI is running.
void enable_device_buffers(void* const* load) noexcept;

// Predefined objects. Datatypes, operations and error handlers always exist; communicators exist from init to
// finalize.
Comm* comm_world() noexcept;
Comm* comm_self() noexcept;
Datatype& builtin_type(TypeId id) noexcept;
Op& builtin_op(OpId id) noexcept;
Errhandler& errors_are_fatal() noexcept;
Errhandler& errors_abort() noexcept;
Errhandler& errors_return() noexcept;
Message& message_no_proc() noexcept;
Group& group_empty() noexcept;
Info& info_env() noexcept;

// Identity of a builtin object, from which an ABI binding finds its constant.
struct BuiltinName {
    enum class Kind {
        none,
        type,
        op,
        errors_are_fatal,
        errors_abort,
        errors_return,
        comm_world,
        comm_self,
        message_no_proc,
        group_empty,
        info_env
    };
    using enum Kind;
    Kind kind = none;
    int id = 0; // TypeId or OpId
};
BuiltinName builtin_name(const Object& object) noexcept;

// Properties of a communicator that an ABI binding needs to check arguments. Comm and Win begin with a
// CommHeader.
inline int size_of(const Comm& comm) noexcept { // of the remote group for an intercommunicator
    return reinterpret_cast<const CommHeader&>(comm).peer_count;
}
inline uint32_t context_of(const Comm& comm) noexcept { // for the flight recorder
    return reinterpret_cast<const CommHeader&>(comm).context;
}
inline int size_of(const Win& win) noexcept { return reinterpret_cast<const CommHeader&>(win).peer_count; }
inline uint32_t context_of(const Win& win) noexcept {
    return reinterpret_cast<const CommHeader&>(win).context;
}
bool is_inter(const Comm& comm) noexcept;
int rank_of(const Comm& comm) noexcept; // in the local group
int local_size_of(const Comm& comm) noexcept;
int sources_of(const Comm& comm) noexcept; // topology neighbors; 0 without a topology
int destinations_of(const Comm& comm) noexcept;
std::string name_of(const Comm& comm);
const Comm* comm_of(const Request& request) noexcept; // errors of a request are raised there
const Comm* comm_of(const Message& message) noexcept;
bool is_committed(const Datatype& type) noexcept;
bool op_supports(const Op& op, const Datatype& type) noexcept;

// Held by an ABI binding around each call; does nothing below MPI_THREAD_MULTIPLE unless a progress thread
// exists.
void lock_progress_engine() noexcept;
void unlock_progress_engine() noexcept;
inline void lock_runtime() noexcept {
    if (hot::locking.load(std::memory_order_relaxed)) lock_progress_engine();
}
inline void unlock_runtime() noexcept {
    if (hot::locking.load(std::memory_order_relaxed)) unlock_progress_engine();
}

// How an error is handled. The ABI binding calls handler_of() and executes the action: user handlers have the
// ABI's types.
struct HandlerAction {
    enum class Kind { fatal, abort, return_error, call };
    using enum Kind;
    Kind kind = fatal;
    void* user_function = nullptr; // with call
};
// Communicator for errors that belong to no object: MPI_COMM_SELF, or, while the application has set no
// handler there, MPI_COMM_WORLD as before MPI 4.0. Null while neither exists.
Comm* default_error_comm() noexcept;
HandlerAction handler_of(const Comm* comm) noexcept; // null: for errors that belong to no object
HandlerAction handler_of(const Session& session) noexcept;
HandlerAction handler_of(const Win& win) noexcept;
HandlerAction handler_of(File* file) noexcept; // null: for files opened later
HandlerAction action_of(const Errhandler& handler) noexcept;

// Prints what, where, why and fix, and ends the job (fatal) or the communicator's ranks (abort).
[[noreturn]] [[gnu::cold]] void exit_forked_child(const char* function) noexcept;
[[noreturn]] [[gnu::cold]] void abort_job(const char* function, Err error, const Comm* comm) noexcept;
[[noreturn]] [[gnu::cold]] void end_after_lost_connection(int world_rank) noexcept;
// Text of MPI_Error_string: class, meaning, and details if it was the last error of this thread.
std::string describe(Err error);

} // namespace zipmpi::core
