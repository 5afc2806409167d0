// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The state of the library in this process, and what a face needs around each call: is it running, the lock,
// and how an error ends.
#pragma once

#include "base/err.hpp"
#include "core/builtin.hpp"
#include "core/object.hpp"

#include <atomic>
#include <string>

namespace zipmpi::core {

enum class Phase : int { before_init, running, after_finalize };

// What every call reads, so that it costs a load and a compare.
namespace live {
extern std::atomic<Phase> phase;
extern std::atomic<bool> locks; // calls of several threads, or of one and a helper
} // namespace live
inline Phase phase() noexcept { return live::phase.load(std::memory_order_relaxed); }

// Predefined objects. Datatypes, operations, error handlers exist always; communicators from init to
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

// The integer of a builtin object that a face needs to find its own constant back.
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

// What a face asks of a communicator while it checks arguments. Its objects begin with a CommFace.
inline int size_of(const Comm& comm) noexcept { // of the remote group for an intercommunicator
    return reinterpret_cast<const CommFace&>(comm).peers;
}
inline uint32_t context_of(const Comm& comm) noexcept { // for the flight recorder
    return reinterpret_cast<const CommFace&>(comm).context;
}
inline int size_of(const Win& win) noexcept { return reinterpret_cast<const CommFace&>(win).peers; }
inline uint32_t context_of(const Win& win) noexcept { return reinterpret_cast<const CommFace&>(win).context; }
bool is_inter(const Comm& comm) noexcept;
int sources_of(const Comm& comm) noexcept; // neighbours in its topology; 0 without one
int destinations_of(const Comm& comm) noexcept;
std::string name_of(const Comm& comm);
const Comm* comm_of(const Request& request) noexcept; // errors of a request are raised there
const Comm* comm_of(const Message& message) noexcept;
bool is_committed(const Datatype& type) noexcept;
bool op_takes(const Op& op, const Datatype& type) noexcept;

// Taken by a face around each call; does nothing below MPI_THREAD_MULTIPLE, unless the library has a thread.
void lock_lane() noexcept;
void unlock_lane() noexcept;
inline void lock_engine() noexcept {
    if (live::locks.load(std::memory_order_relaxed)) lock_lane();
}
inline void unlock_engine() noexcept {
    if (live::locks.load(std::memory_order_relaxed)) unlock_lane();
}

// How an error ends. A face calls handler_of() and acts on it: user handlers are the face's functions.
struct HandlerAction {
    enum class Kind { fatal, abort, give_back, call };
    using enum Kind;
    Kind kind = fatal;
    void* face_function = nullptr; // with call
};
// Where errors go that belong to no object: MPI_COMM_SELF. As long as the program has set no handler there,
// MPI_COMM_WORLD, which was the place before MPI 4.0. Null while there is neither.
Comm* comm_of_stray_errors() noexcept;
HandlerAction handler_of(const Comm* comm) noexcept; // null: that of errors that belong to no object
HandlerAction handler_of(const Session& session) noexcept;
HandlerAction handler_of(const Win& win) noexcept;
HandlerAction handler_of(File* file) noexcept; // null: that of files to be opened
HandlerAction action_of(const Errhandler& handler) noexcept;

// Prints what, where, why and what to do, and ends the job (fatal) or the communicator's ranks (abort).
[[noreturn]] [[gnu::cold]] void die(const char* function, Err error, const Comm* comm) noexcept;
// The same text for MPI_Error_string: class, meaning, and the detail if it was the last error of this thread.
std::string describe(Err error);

} // namespace zipmpi::core
