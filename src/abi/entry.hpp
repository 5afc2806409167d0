// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One call of an MPI function: what every entry point checks, in the words of its parameters' kinds. A check
// is a compare or two and stays inline; what it says when it fails is in checks.cpp.
//
// Threads: an Entry lives on the stack of its call. Checks read only what does not change while an object
// lives, so they run before the engine is locked.
#pragma once

#include "abi/abi_values.hpp"
#include "abi/errors.hpp"
#include "abi/handles.hpp"
#include "abi/results.hpp"
#include "abi/status.hpp"
#include "base/recorder.hpp"
#include "core/api.hpp"

#include <type_traits>

namespace zipmpi::abi {

namespace checks { // each records the detail and returns the class
[[gnu::cold]] Err bad_handle(Err cls, const char* what, const char* null_name, bool null, const void* value,
                             const char* param) noexcept;
[[gnu::cold]] Err bad_count(int64_t count, int64_t least, const char* param) noexcept;
[[gnu::cold]] Err bad_pointer(const char* param) noexcept;
[[gnu::cold]] Err bad_listed(Err cls, int value, const char* param) noexcept;
[[gnu::cold]] Err bad_tag(int tag, bool any, const char* param) noexcept;
[[gnu::cold]] Err bad_operation(const core::Op& op, const core::Datatype& type) noexcept;
[[gnu::cold]] Err not_committed(const char* param) noexcept;
// These decide what the inline part could not: success is possible.
[[gnu::cold]] Err odd_comm(MPI_Comm value, core::Comm*& object, uint32_t function,
                           const char* param) noexcept;
[[gnu::cold]] Err odd_rank(int rank, const core::Comm& comm, bool any, bool null, const char* param) noexcept;
[[gnu::cold]] Err odd_rank(int rank, const core::Win& win, bool any, bool null, const char* param) noexcept;
[[gnu::cold]] Err odd_root(int root, const core::Comm& comm, const char* param) noexcept;
[[gnu::cold]] Err odd_buffer(const void* buffer, int64_t count, const core::Datatype* type, bool in_place,
                             const char* param) noexcept;
} // namespace checks

// The class of an error for values that have no meaning.
template <class E>
constexpr Err error_of(E) {
    return Err::arg;
}
constexpr Err error_of(core::LockType) { return Err::locktype; }

inline bool is_in_place(const void* buffer) noexcept { return buffer == MPI_IN_PLACE; }

inline bool is_root(core::Comm& comm, int root) noexcept {
    if (root < 0) return root == core::root_here;
    int rank = 0;
    return !core::is_inter(comm) && core::comm_rank(comm, rank) == Err::success && rank == root;
}

// In the group of the root of a collective on an intercommunicator: what is sent to it does not count here.
inline bool stands_by(const core::Comm& comm, int root) noexcept { return root < 0 && core::is_inter(comm); }

struct Entry {
    uint32_t id; // of the function
    Err err = Err::success;
    const core::Comm* comm = nullptr; // whose handler an error goes to
    const core::Session* session = nullptr;
    core::Win* win = nullptr;

    [[nodiscard]] int raise() const noexcept {
        return win != nullptr ? abi::raise_on(id, err, *win) : abi::raise(id, err, comm, session);
    }
    [[nodiscard]] int done() const noexcept { return err == Err::success ? MPI_SUCCESS : raise(); }

    bool refuse(Err why) noexcept {
        err = why;
        return why == Err::success;
    }

    [[nodiscard]] bool running() const noexcept {
        if (core::phase() != core::Phase::running) [[unlikely]]
            die_outside(id);
        return true;
    }

    template <class T>
    bool handle(typename HandleTraits<T>::Handle value, T*& object, const char* param) noexcept {
        using Traits = HandleTraits<T>;
        object = find<T>(value);
        if (object != nullptr) [[likely]]
            return true;
        if constexpr (std::is_same_v<T, core::Comm>)
            return refuse(checks::odd_comm(value, object, id, param));
        return refuse(checks::bad_handle(Traits::error, Traits::what, Traits::null_name,
                                         value == Traits::null(), value, param));
    }

    template <class T>
    bool optional_handle(typename HandleTraits<T>::Handle value, T*& object, const char* param) noexcept {
        return value == HandleTraits<T>::null() || handle(value, object, param);
    }

    // The communicator that the call is on.
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

    template <class T> // a request or a message
    void on_owner_of(const T* object) noexcept {
        if (object != nullptr) comm = core::comm_of(*object);
    }

    bool count(int64_t n, const char* param) noexcept {
        return n >= 0 || refuse(checks::bad_count(n, 0, param));
    }

    bool positive(int64_t n, const char* param) noexcept {
        return n > 0 || refuse(checks::bad_count(n, 1, param));
    }

    bool out(const void* pointer, const char* param) noexcept {
        return pointer != nullptr || refuse(checks::bad_pointer(param));
    }

    bool out_array(const void* pointer, int64_t length, const char* param) noexcept {
        return pointer != nullptr || length == 0 || refuse(checks::bad_pointer(param));
    }

    template <class Function>
    bool function(Function* pointer, const char* param) noexcept {
        return pointer != nullptr || refuse(checks::bad_pointer(param));
    }

    bool committed(MPI_Datatype value, const core::Datatype& type, const char* param) noexcept {
        return reinterpret_cast<uintptr_t>(value) < codes_end || core::is_committed(type) ||
               refuse(checks::not_committed(param));
    }

    bool buffer(const void* pointer, int64_t n, const core::Datatype* type, bool in_place,
                const char* param) noexcept {
        // null and the special addresses of the ABI are the smallest ones
        return reinterpret_cast<uintptr_t>(pointer) >= first_user_value ||
               refuse(checks::odd_buffer(pointer, n, type, in_place, param));
    }

    template <class Group> // a communicator or a window
    static bool in_group(int rank, const Group& group) noexcept {
        return static_cast<unsigned>(rank) < static_cast<unsigned>(core::size_of(group));
    }

    template <class Group>
    bool member(int rank, const Group* group, const char* param) noexcept {
        return in_group(rank, *group) || refuse(checks::odd_rank(rank, *group, false, false, param));
    }

    template <class Group>
    bool peer(int rank, const Group* group, const char* param) noexcept {
        return in_group(rank, *group) || refuse(checks::odd_rank(rank, *group, false, true, param));
    }

    bool source(int rank, const core::Comm* group, const char* param) noexcept {
        return in_group(rank, *group) || rank == core::any_source ||
               refuse(checks::odd_rank(rank, *group, true, true, param));
    }

    bool root(int rank, const core::Comm* group, const char* param) noexcept {
        return in_group(rank, *group) || refuse(checks::odd_root(rank, *group, param));
    }

    bool tag(int value, const char* param) noexcept {
        return value >= 0 || refuse(checks::bad_tag(value, false, param));
    }

    bool tag_or_any(int value, const char* param) noexcept {
        return value >= 0 || value == core::any_tag || refuse(checks::bad_tag(value, true, param));
    }

    bool reducible(const core::Op& op, const core::Datatype& type) noexcept {
        return core::op_takes(op, type) || refuse(checks::bad_operation(op, type));
    }

    bool load(const MPI_Status* status, core::Status& to, const char* param) noexcept {
        if (status == nullptr) [[unlikely]]
            return refuse(checks::bad_pointer(param));
        to = get_status(*status);
        return true;
    }

    template <class E>
    bool listed(int code, E& own, const char* param) noexcept {
        for (const auto& row : values::listed(E{})) {
            if (row.code != code) continue;
            own = row.own;
            return true;
        }
        return refuse(checks::bad_listed(error_of(E{}), code, param));
    }
};

// A call that is given the handler of what it makes: the handler gets the errors of the call as well.
template <class Made>
struct MakingEntry : Entry {
    const core::Errhandler* given = nullptr;

    [[nodiscard]] int raise() const noexcept {
        return given != nullptr ? raise_with(id, err, *given, static_cast<Made*>(nullptr)) : Entry::raise();
    }
    [[nodiscard]] int done() const noexcept { return err == Err::success ? MPI_SUCCESS : raise(); }

    bool raises_with(MPI_Errhandler value, core::Errhandler*& object, const char* param) noexcept {
        const bool good = handle(value, object, param);
        given = object;
        return good;
    }
};

// A call about files.
struct FileEntry : Entry {
    core::File* file = nullptr; // null: errors go to the handler of files that are opened later

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

// A call that frees the object it is on, even if it fails: what its errors do is kept before the object is
// gone.
template <class T>
struct FreeingEntry : std::conditional_t<std::is_same_v<T, core::File>, FileEntry, Entry> {
    core::HandlerAction kept{};

    void keep_handler_of(T& object) noexcept { kept = handler_of_object(object); }
    [[nodiscard]] int done(T* left) const noexcept {
        if (this->err == Err::success) return MPI_SUCCESS;
        return left != nullptr ? this->raise() : raise_freed(this->id, this->err, kept, left);
    }
};

// The flight recorder has its own wildcard.
inline int32_t peer_record(int rank) noexcept { return rank == core::any_source ? recorder_any : rank; }
inline int32_t tag_record(int tag) noexcept { return tag == core::any_tag ? recorder_any : tag; }

enum class Lock { no, yes };

// The time inside the engine. The recorder is asked for twice: it moves into the node segment during
// MPI_Init.
template <Lock lock>
class Guard {
  public:
    Guard(uint32_t function, int32_t peer, int32_t tag, uint32_t context) noexcept {
        if constexpr (lock == Lock::yes) core::lock_engine();
        record_enter(recorder(), function, peer, tag, context);
    }
    ~Guard() {
        record_leave(recorder());
        if constexpr (lock == Lock::yes) core::unlock_engine();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
};

} // namespace zipmpi::abi
