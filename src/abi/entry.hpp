// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One call of an MPI function and the argument checks of its entry point, by parameter kind. Checks are one
// or two inline compares; failing checks and messages are in checks.cpp.
//
// Threads: an Entry lives on the stack of its call. Checks read only immutable data of an object, so they run
// before the lock is taken.
#pragma once

#include "abi/abi_values.hpp"
#include "abi/errors.hpp"
#include "abi/handles.hpp"
#include "abi/results.hpp"
#include "abi/status.hpp"
#include "base/recorder.hpp"
#include "core/api/common.hpp"

#include <type_traits>

namespace zipmpi::abi {

namespace checks { // each records the details and returns the error class
[[gnu::cold]] Err bad_handle(Err cls, const char* what, const char* null_name, bool null, uintptr_t value,
                             const char* param) noexcept;
[[gnu::cold]] Err bad_count(int64_t count, int64_t least, const char* param) noexcept;
[[gnu::cold]] Err bad_pointer(const char* param) noexcept;
[[gnu::cold]] Err bad_enumerator(Err cls, int value, const char* param) noexcept;
[[gnu::cold]] Err bad_tag(int tag, bool any, const char* param) noexcept;
[[gnu::cold]] Err bad_operation(const core::Op& op, const core::Datatype& type) noexcept;
[[gnu::cold]] Err not_committed(const char* param) noexcept;
// These decide cases that the inline part could not; they may return success.
[[gnu::cold]] Err check_comm_slow(MPI_Comm value, core::Comm*& object, uint32_t function,
                                  const char* param) noexcept;
[[gnu::cold]] Err check_rank_slow(int rank, const core::Comm& comm, bool any, bool null,
                                  const char* param) noexcept;
[[gnu::cold]] Err check_rank_slow(int rank, const core::Win& win, bool any, bool null,
                                  const char* param) noexcept;
[[gnu::cold]] Err check_root_slow(int root, const core::Comm& comm, const char* param) noexcept;
[[gnu::cold]] Err check_buffer_slow(const void* buffer, int64_t count, const core::Datatype* type,
                                    bool allows_in_place, const char* param) noexcept;
} // namespace checks

// Error class for invalid enumerator values.
template <class E>
constexpr Err error_of(E) {
    return Err::arg;
}
constexpr Err error_of(core::LockType) { return Err::locktype; }

inline bool is_in_place(const void* buffer) noexcept { return buffer == core::in_place; }

inline bool is_root(const core::Comm& comm, int root) noexcept {
    if (root < 0) return root == core::root_here;
    return !core::is_inter(comm) && core::rank_of(comm) == root;
}

// True in the group of the root of an intercommunicator collective, where the arguments of the remote group
// are not significant.
inline bool is_bystander(const core::Comm& comm, int root) noexcept {
    return root < 0 && core::is_inter(comm);
}

// True in the group of the root of an intercommunicator collective, except at the root: no argument besides
// root and communicator is significant.
inline bool is_uninvolved(const core::Comm& comm, int root) noexcept {
    return root == core::proc_null && core::is_inter(comm);
}

struct Entry {
    uint32_t id; // function id
    Err err = Err::success;
    const core::Comm* comm = nullptr; // communicator on which errors are raised
    const core::Session* session = nullptr;
    core::Win* win = nullptr;

    [[nodiscard]] int raise() const noexcept {
        return win != nullptr ? abi::raise_on(id, err, *win) : abi::raise(id, err, comm, session);
    }
    [[nodiscard]] int done() const noexcept { return err == Err::success ? MPI_SUCCESS : raise(); }

    bool set_error(Err why) noexcept {
        err = why;
        return why == Err::success;
    }

    [[nodiscard]] bool running() const noexcept {
        if (core::phase() != core::Phase::running) [[unlikely]]
            abort_outside_mpi(id);
        return true;
    }

    template <class T>
    ZIPMPI_INLINE_LOOKUP bool handle(typename HandleTraits<T>::Handle value, T*& object,
                                     const char* param) noexcept {
        using Traits = HandleTraits<T>;
        object = find<T>(value);
        if (object != nullptr) [[likely]]
            return true;
        if constexpr (std::is_same_v<T, core::Comm>)
            return set_error(checks::check_comm_slow(value, object, id, param));
        return set_error(checks::bad_handle(Traits::error, Traits::what, Traits::null_name,
                                            value == Traits::null(), integer_of(value), param));
    }

    template <class T>
    bool optional_handle(typename HandleTraits<T>::Handle value, T*& object, const char* param) noexcept {
        return value == HandleTraits<T>::null() || handle(value, object, param);
    }

    // The communicator of the call.
    bool on(MPI_Comm value, core::Comm*& object, const char* param) noexcept {
        const bool good = handle(value, object, param);
        comm = object;
        return good;
    }

    bool on(MPI_Session value, core::Session*& object, const char* param) noexcept {
        const bool good = handle(value, object, param);
        session = object;
        return good;
    }

    bool on(MPI_Win value, core::Win*& object, const char* param) noexcept {
        const bool good = handle(value, object, param);
        win = object;
        return good;
    }

    template <class T> // request or message
    void on_comm_of(const T* object) noexcept {
        if (object != nullptr) comm = core::comm_of(*object);
    }

    bool count(int64_t n, const char* param) noexcept {
        return n >= 0 || set_error(checks::bad_count(n, 0, param));
    }

    bool positive(int64_t n, const char* param) noexcept {
        return n > 0 || set_error(checks::bad_count(n, 1, param));
    }

    bool out(const void* pointer, const char* param) noexcept {
        return pointer != nullptr || set_error(checks::bad_pointer(param));
    }

    bool out_array(const void* pointer, int64_t length, const char* param) noexcept {
        return pointer != nullptr || length == 0 || set_error(checks::bad_pointer(param));
    }

    template <class Function>
    bool function(Function* pointer, const char* param) noexcept {
        return pointer != nullptr || set_error(checks::bad_pointer(param));
    }

    bool committed(MPI_Datatype value, const core::Datatype& type, const char* param) noexcept {
        return predefined_index(value) < codes_end || core::is_committed(type) ||
               set_error(checks::not_committed(param));
    }

    bool buffer(const void* pointer, int64_t n, const core::Datatype* type, bool allows_in_place,
                const char* param) noexcept {
        // null and the special addresses of the ABI are below all valid ones
        return reinterpret_cast<uintptr_t>(pointer) >= first_user_value ||
               set_error(checks::check_buffer_slow(pointer, n, type, allows_in_place, param));
    }

    template <class Group> // communicator or window
    static bool in_group(int rank, const Group& group) noexcept {
        return static_cast<unsigned>(rank) < static_cast<unsigned>(core::size_of(group));
    }

    template <class Group>
    bool member(int rank, const Group* group, const char* param) noexcept {
        return in_group(rank, *group) ||
               set_error(checks::check_rank_slow(rank, *group, false, false, param));
    }

    template <class Group>
    bool peer(int rank, const Group* group, const char* param) noexcept {
        return in_group(rank, *group) || set_error(checks::check_rank_slow(rank, *group, false, true, param));
    }

    bool source(int rank, const core::Comm* group, const char* param) noexcept {
        return in_group(rank, *group) || rank == core::any_source ||
               set_error(checks::check_rank_slow(rank, *group, true, true, param));
    }

    bool root(int rank, const core::Comm* group, const char* param) noexcept {
        return in_group(rank, *group) || set_error(checks::check_root_slow(rank, *group, param));
    }

    bool tag(int value, const char* param) noexcept {
        return value >= 0 || set_error(checks::bad_tag(value, false, param));
    }

    bool tag_or_any(int value, const char* param) noexcept {
        return value >= 0 || value == core::any_tag || set_error(checks::bad_tag(value, true, param));
    }

    bool reducible(const core::Op& op, const core::Datatype& type) noexcept {
        return core::op_supports(op, type) || set_error(checks::bad_operation(op, type));
    }

    bool load(const MPI_Status* status, core::Status& to, const char* param) noexcept {
        if (status == nullptr) [[unlikely]]
            return set_error(checks::bad_pointer(param));
        to = get_status(*status);
        return true;
    }

    template <class E>
    bool enumerator(int code, E& value, const char* param) noexcept {
        for (const auto& row : values::enum_codes(E{})) {
            if (row.code != code) continue;
            value = row.value;
            return true;
        }
        return set_error(checks::bad_enumerator(error_of(E{}), code, param));
    }
};

// A call that takes the error handler of the object it creates: errors of the call go to that handler, too.
template <class Made>
struct CreatingEntry : Entry {
    const core::Errhandler* errhandler = nullptr;

    [[nodiscard]] int raise() const noexcept {
        return errhandler != nullptr ? raise_with(id, err, *errhandler, static_cast<Made*>(nullptr))
                                     : Entry::raise();
    }
    [[nodiscard]] int done() const noexcept { return err == Err::success ? MPI_SUCCESS : raise(); }

    bool use_errhandler(MPI_Errhandler value, core::Errhandler*& object, const char* param) noexcept {
        const bool good = handle(value, object, param);
        errhandler = object;
        return good;
    }
};

// A call on files.
struct FileEntry : Entry {
    core::File* file = nullptr; // null: errors go to the initial handler of files

    using Entry::on;
    bool on(MPI_File value, core::File*& object, const char* param) noexcept {
        const bool good = handle(value, object, param);
        file = object;
        return good;
    }

    [[nodiscard]] int raise() const noexcept { return abi::raise_on(id, err, file); }
    [[nodiscard]] int done() const noexcept { return err == Err::success ? MPI_SUCCESS : raise(); }
};

inline core::HandlerAction handler_of_object(const core::Comm& comm) noexcept {
    return core::handler_of(&comm);
}
inline core::HandlerAction handler_of_object(const core::Session& session) noexcept {
    return core::handler_of(session);
}
inline core::HandlerAction handler_of_object(const core::Win& win) noexcept { return core::handler_of(win); }
inline core::HandlerAction handler_of_object(core::File& file) noexcept { return core::handler_of(&file); }

// A call that frees its object even if it fails: the handler of the object is saved before it is destroyed.
template <class T>
struct FreeingEntry : std::conditional_t<std::is_same_v<T, core::File>, FileEntry, Entry> {
    core::HandlerAction saved_action{};

    void save_handler_of(T& object) noexcept { saved_action = handler_of_object(object); }
    [[nodiscard]] int done(T* left) const noexcept {
        if (this->err == Err::success) return MPI_SUCCESS;
        return left != nullptr ? this->raise() : raise_freed(this->id, this->err, saved_action, left);
    }
};

// The flight recorder has its own wildcard.
inline int32_t peer_record(int rank) noexcept { return rank == core::any_source ? recorder_any : rank; }
inline int32_t tag_record(int tag) noexcept { return tag == core::any_tag ? recorder_any : tag; }

enum class Lock { no, yes };

// Lock and flight recorder of one call. The recorder is read twice because it moves into the node segment
// during MPI_Init.
template <Lock lock>
class CallGuard {
  public:
    CallGuard(uint32_t function, int32_t peer, int32_t tag, uint32_t context) noexcept {
        if constexpr (lock == Lock::yes) core::lock_runtime();
        record_enter(recorder(), function, peer, tag, context);
    }
    ~CallGuard() {
        record_leave(recorder());
        if constexpr (lock == Lock::yes) core::unlock_runtime();
    }
    CallGuard(const CallGuard&) = delete;
    CallGuard& operator=(const CallGuard&) = delete;
};

} // namespace zipmpi::abi
