// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the user's attribute callbacks and error handlers.
#pragma once

namespace zipmpi::abi {

template <class Function, class Handle>
int call_copy(Function* function, Handle handle, int keyval, void* extra_state, void* value, void** copied,
              int* flag) noexcept {
    return function(handle, keyval, extra_state, value, copied, flag);
}
template <class Function, class Handle>
int call_delete(Function* function, Handle handle, int keyval, void* value, void* extra_state) noexcept {
    return function(handle, keyval, value, extra_state);
}
template <class Function, class Handle>
void call_error_handler(Function* function, Handle* handle, int* code) noexcept {
    function(handle, code);
}

} // namespace zipmpi::abi
