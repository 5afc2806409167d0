// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of an Err to what the application sees: code, error handler, text.
#pragma once

#include "abi/mpi_abi.hpp"
#include "base/err.hpp"
#include "core/runtime.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::abi {

// The code returned for an error is its class.
int code_of(Err err) noexcept;
// Returns false if the code is not an error class of this ABI.
bool err_of(int code, Err& err) noexcept;

// Converts any code, including user-defined ones. 0 is success.
Err any_err_of(int code) noexcept;
// Stores the user-defined text in the details of an error unknown to core.
Err with_user_text(Err err) noexcept;

// Calls the error handler of the communicator or session, or the default one if both are null. Returns the
// code, or does not return.
[[gnu::cold]] int raise(uint32_t function, Err err, const core::Comm* comm,
                        const core::Session* session) noexcept;
// Raises an error on a window.
[[gnu::cold]] int raise_on(uint32_t function, Err err, core::Win& win) noexcept;
// Raises an error on a file; null: on the initial handler of files.
[[gnu::cold]] int raise_on(uint32_t function, Err err, core::File* file) noexcept;
// Calls a handler passed as an argument; the object that the call should have created is passed to it as
// null.
[[gnu::cold]] int raise_with(uint32_t function, Err err, const core::Errhandler& handler,
                             core::Comm* made) noexcept;
[[gnu::cold]] int raise_with(uint32_t function, Err err, const core::Errhandler& handler,
                             core::Session* made) noexcept;
// Raises an error of a call that has freed its object on the saved handler. freed: null.
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::Comm* freed) noexcept;
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::Session* freed) noexcept;
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::Win* freed) noexcept;
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::File* freed) noexcept;
// Reports a call before MPI_Init or after MPI_Finalize, when no error handler exists.
[[noreturn]] [[gnu::cold]] void abort_outside_mpi(uint32_t function) noexcept;
// Stores function and code for error_text(); raise() does it implicitly.
int record_last_error(uint32_t function, int code) noexcept;

// Calls a user handler. Returns the code, which the handler may have changed.
int call_handler(void* user_function, const core::Comm* comm, const core::Session* session,
                 int code) noexcept;
int call_handler(void* user_function, core::Win* win, int code) noexcept;
int call_handler(void* user_function, core::File* file, int code) noexcept;

// Text of MPI_Error_string: with function and cause if it was the last error of this thread.
bool error_text(int code, std::string& text);

} // namespace zipmpi::abi
