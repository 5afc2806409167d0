// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion between handles and objects. A predefined handle is looked up in a table by its index; what any
// other contains is defined by the binding (handle_form.hpp). Freed objects keep their memory, so a stale
// handle is detected by its kind tag.
#pragma once

#include "abi/mpi_abi.hpp"
#include "base/err.hpp"
#include "binding/handle_form.hpp"
#include "core/object.hpp"
#include "core/runtime.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace zipmpi::abi {

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

// Objects of the predefined handles, filled on first use.
[[gnu::visibility("hidden")]] extern std::atomic<core::Object*> predefined_objects[codes_end];
[[gnu::cold]] core::Object* resolve_predefined(uintptr_t index) noexcept;
// Called in MPI_Finalize, which destroys world and self.
void reset_predefined_comms() noexcept;
// The handle of a builtin object, as an integer; 0: not predefined.
uintptr_t predefined_handle(const core::Object& object) noexcept;

// The object of a handle, or null. Its kind may be another.
template <class T>
ZIPMPI_INLINE_LOOKUP inline core::Object* lookup_object(typename HandleTraits<T>::Handle handle) noexcept {
    const uintptr_t index = predefined_index(handle);
    if (index >= codes_end) return user_object<HandleTraits<T>::class_id>(handle);
    core::Object* const object = predefined_objects[index].load(std::memory_order_relaxed);
    if (object == nullptr) [[unlikely]]
        return resolve_predefined(index);
    return object;
}

// The object, or null if the handle is not of this kind.
template <class T>
ZIPMPI_INLINE_LOOKUP inline T* find(typename HandleTraits<T>::Handle handle) noexcept {
    core::Object* const object = lookup_object<T>(handle);
    const bool right = object != nullptr && object->cls == HandleTraits<T>::class_id;
    return right ? reinterpret_cast<T*>(object) : nullptr;
}

// No request is predefined.
template <>
inline core::Request* find<core::Request>(MPI_Request handle) noexcept {
    core::Object* const object = user_object<core::ObjectKind::request>(handle);
    const bool right = object != nullptr && object->cls == core::ObjectKind::request;
    return right ? reinterpret_cast<core::Request*>(object) : nullptr;
}

template <class T>
inline core::Object* as_object(T* object) noexcept {
    return reinterpret_cast<core::Object*>(object);
}

// Handles are pointers or enumerations.
template <class Handle>
inline Handle handle_from_integer(uintptr_t value) noexcept {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(value);
    else
        return static_cast<Handle>(static_cast<int>(value));
}
template <class Handle>
inline uintptr_t integer_of(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<uintptr_t>(handle);
    else
        return static_cast<uint32_t>(handle);
}

template <class T>
inline typename HandleTraits<T>::Handle handle_of(T* object) noexcept {
    using Handle = typename HandleTraits<T>::Handle;
    if (object == nullptr) return HandleTraits<T>::null();
    const uintptr_t value = predefined_handle(*as_object(object));
    if (value != 0) return handle_from_integer<Handle>(value);
    return user_handle<HandleTraits<T>::class_id, Handle>(as_object(object));
}

// No request is predefined, so no table lookup is needed.
template <>
inline MPI_Request handle_of<core::Request>(core::Request* request) noexcept {
    if (request == nullptr) return MPI_REQUEST_NULL;
    return user_handle<core::ObjectKind::request, MPI_Request>(as_object(request));
}

} // namespace zipmpi::abi
