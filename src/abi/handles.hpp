// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion between handles and objects. A handle below 4096 is a code of the ABI and is looked up in a
// table; any other is the address of a core object, which begins with its Object. Freed objects keep their
// memory, so a stale handle is detected by its kind tag.
#pragma once

#include "abi/mpi_abi.hpp"
#include "base/err.hpp"
#include "core/object.hpp"
#include "core/runtime.hpp"

#include <atomic>
#include <cstdint>

namespace zipmpi::abi {

inline constexpr uintptr_t codes_end = 1024;        // predefined handles have ten bits
inline constexpr uintptr_t first_user_value = 4096; // lower values are reserved by the standard

template <class T>
struct HandleTraits;

// Core type, object kind, null handle, error class for invalid handles, and name in messages.
#define ZIPMPI_HANDLE(type, id, null_handle, error_class, text)                                              \
    template <>                                                                                              \
    struct HandleTraits<core::type> {                                                                        \
        using Handle = MPI_##type;                                                                           \
        static constexpr core::ObjectKind class_id = core::ObjectKind::id;                                   \
        static Handle null() { return null_handle; }                                                         \
        static constexpr const char* null_name = #null_handle;                                               \
        static constexpr Err error = Err::error_class;                                                       \
        static constexpr const char* what = text;                                                            \
    }
ZIPMPI_HANDLE(Comm, comm, MPI_COMM_NULL, comm, "communicator");
ZIPMPI_HANDLE(Group, group, MPI_GROUP_NULL, group, "group");
ZIPMPI_HANDLE(Request, request, MPI_REQUEST_NULL, request, "request");
ZIPMPI_HANDLE(Datatype, datatype, MPI_DATATYPE_NULL, type, "datatype");
ZIPMPI_HANDLE(Op, op, MPI_OP_NULL, op, "operation");
ZIPMPI_HANDLE(Info, info, MPI_INFO_NULL, info, "info object");
ZIPMPI_HANDLE(Errhandler, errhandler, MPI_ERRHANDLER_NULL, errhandler, "error handler");
ZIPMPI_HANDLE(Win, win, MPI_WIN_NULL, win, "window");
ZIPMPI_HANDLE(File, file, MPI_FILE_NULL, file, "file");
ZIPMPI_HANDLE(Session, session, MPI_SESSION_NULL, session, "session");
ZIPMPI_HANDLE(Message, message, MPI_MESSAGE_NULL, request, "message");
#undef ZIPMPI_HANDLE

// Objects of the codes, filled on first use.
[[gnu::visibility("hidden")]] extern std::atomic<core::Object*> predefined_objects[codes_end];
[[gnu::cold]] core::Object* resolve_predefined(uintptr_t code) noexcept;
// Called in MPI_Finalize, which destroys world and self.
void reset_predefined_comms() noexcept;
// The code of a builtin object, or 0.
uintptr_t predefined_code(const core::Object& object) noexcept;

// The object of a handle of any kind, or null.
inline core::Object* lookup_object(const void* handle) noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    core::Object* object = nullptr;
    if (value < codes_end) {
        object = predefined_objects[value].load(std::memory_order_relaxed);
        if (object == nullptr) [[unlikely]]
            object = resolve_predefined(value);
    } else if (value >= first_user_value && value % alignof(core::Object) == 0) {
        object = reinterpret_cast<core::Object*>(value);
    }
    return object;
}

// The object, or null if the handle is not of this kind.
template <class T>
inline T* find(typename HandleTraits<T>::Handle handle) noexcept {
    core::Object* const object = lookup_object(handle);
    const bool right = object != nullptr && object->cls == HandleTraits<T>::class_id;
    return right ? reinterpret_cast<T*>(object) : nullptr;
}

template <class T>
inline core::Object* as_object(T* object) noexcept {
    return reinterpret_cast<core::Object*>(object);
}

template <class T>
inline typename HandleTraits<T>::Handle handle_of(T* object) noexcept {
    using Handle = typename HandleTraits<T>::Handle;
    if (object == nullptr) return HandleTraits<T>::null();
    const uintptr_t code = predefined_code(*as_object(object));
    return code != 0 ? reinterpret_cast<Handle>(code) : reinterpret_cast<Handle>(object);
}

// No request is predefined, so no table lookup is needed.
template <>
inline MPI_Request handle_of<core::Request>(core::Request* request) noexcept {
    return request != nullptr ? reinterpret_cast<MPI_Request>(request) : MPI_REQUEST_NULL;
}

} // namespace zipmpi::abi
