// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the user's attribute callbacks. The libraries for Fortran and C++ give a keyval functions that
// call its callbacks in their language.
#pragma once

#include "abi/mpi_abi.hpp"

namespace zipmpi::abi {

enum AttributeType : int { attribute_pointer = 0, attribute_address = 1, attribute_integer = 3 };

using CopyProxy = int(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state,
                      AttributeType type, void* value, void** copied, int* flag);
using DeleteProxy = int(MPI_Comm_delete_attr_function* function, int handle, int keyval, AttributeType type,
                        void* value, void* extra_state);
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
                     keyval, extra_state, attribute_address, value, copied, flag);
    return function(handle, keyval, extra_state, value, copied, flag);
}
template <class Function, class Handle>
int call_delete(Function* function, Handle handle, int keyval, void* value, void* extra_state) noexcept {
    if (DeleteProxy* const proxy = proxies_of(keyval).erase; proxy != nullptr)
        return proxy(reinterpret_cast<MPI_Comm_delete_attr_function*>(function), static_cast<int>(handle),
                     keyval, attribute_address, value, extra_state);
    return function(handle, keyval, value, extra_state);
}

} // namespace zipmpi::abi
