// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the user's attribute callbacks and error handlers. The libraries for Fortran and C++ give a keyval
// functions that call its callbacks in their language; that for C++ gives an error handler such a function.
#pragma once

#include "abi/mpi_abi.hpp"

#include <type_traits>

namespace zipmpi::abi {

enum AttributeType : int { attribute_pointer = 0, attribute_address = 1, attribute_integer = 3 };

using CopyProxy = int(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state,
                      AttributeType type, void* value, void** copied, int* flag);
using DeleteProxy = int(MPI_Comm_delete_attr_function* function, int handle, int keyval, AttributeType type,
                        void* value, void* extra_state);
// The value is passed as that of C: Fortran ignores the type, and C++ would get the address of an integer.
struct KeyvalProxies {
    CopyProxy* copy = nullptr;
    DeleteProxy* erase = nullptr;
};
// Both are null if the keyval has none.
KeyvalProxies proxies_of(int keyval) noexcept;

template <class Function, class Handle>
int call_copy(Function* function, Handle handle, int keyval, void* extra_state, void* value, void** copied,
              int* flag) noexcept {
    if (CopyProxy* const proxy = proxies_of(keyval).copy; proxy != nullptr)
        return proxy(reinterpret_cast<MPI_Comm_copy_attr_function*>(function), static_cast<int>(handle),
                     keyval, extra_state, attribute_pointer, value, copied, flag);
    return function(handle, keyval, extra_state, value, copied, flag);
}
template <class Function, class Handle>
int call_delete(Function* function, Handle handle, int keyval, void* value, void* extra_state) noexcept {
    if (DeleteProxy* const proxy = proxies_of(keyval).erase; proxy != nullptr)
        return proxy(reinterpret_cast<MPI_Comm_delete_attr_function*>(function), static_cast<int>(handle),
                     keyval, attribute_pointer, value, extra_state);
    return function(handle, keyval, value, extra_state);
}

// The kind of object is that of its handler.
enum HandlerKind : int { comm_handler = 0, file_handler = 1, win_handler = 2 };
using HandlerProxy = void(HandlerKind kind, void* handle, int* code, void (*function)());
// Null if the function is not one of C++.
HandlerProxy* proxy_of(void (*function)()) noexcept;

template <class Function, class Handle>
void call_error_handler(Function* function, Handle* handle, int* code) noexcept {
    constexpr HandlerKind kind = std::is_same_v<Handle, MPI_File>  ? file_handler
                                 : std::is_same_v<Handle, MPI_Win> ? win_handler
                                                                   : comm_handler;
    auto* const plain = reinterpret_cast<void (*)()>(function);
    if (HandlerProxy* const proxy = proxy_of(plain); proxy != nullptr)
        proxy(kind, handle, code, plain);
    else
        function(handle, code);
}

} // namespace zipmpi::abi
