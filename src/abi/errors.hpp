// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// From an Err to what the program sees: the code, the error handler, the text.
#pragma once

#include "abi/mpi_abi.hpp"
#include "base/err.hpp"
#include "core/engine.hpp"

#include <cstdint>
#include <string>

namespace zipmpi::abi {

// The code returned for an error is its class.
int code_of(Err err) noexcept;
// False if the code is none of this ABI's classes.
bool err_of(int code, Err& err) noexcept;

// Any code, also of the program's own. 0 is success.
Err any_err_of(int code) noexcept;
// Puts the program's own text into the detail of an error that the engine knows nothing of.
Err explained(Err err) noexcept;

// Calls the handler of the communicator or session, or the one for errors that belong to neither. Returns
// the code, or not at all.
[[gnu::cold]] int raise(uint32_t function, Err err, const core::Comm* comm,
                        const core::Session* session) noexcept;
// The same for an error on a window.
[[gnu::cold]] int raise_on(uint32_t function, Err err, core::Win& win) noexcept;
// On a file, or, if it is null, where files are opened or removed.
[[gnu::cold]] int raise_on(uint32_t function, Err err, core::File* file) noexcept;
// Calls a handler that came as an argument, for what the call should have made: null.
[[gnu::cold]] int raise_with(uint32_t function, Err err, const core::Errhandler& handler,
                             core::Comm* made) noexcept;
[[gnu::cold]] int raise_with(uint32_t function, Err err, const core::Errhandler& handler,
                             core::Session* made) noexcept;
// An error of a call that has freed its object: to the handler that the object had. freed: null.
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::Comm* freed) noexcept;
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::Session* freed) noexcept;
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::Win* freed) noexcept;
[[gnu::cold]] int raise_freed(uint32_t function, Err err, const core::HandlerAction& action,
                              core::File* freed) noexcept;
// A call before MPI_Init or after MPI_Finalize: there is no handler to ask yet.
[[noreturn]] [[gnu::cold]] void die_outside(uint32_t function) noexcept;
// Keeps function and code for error_text(); raise() does it by itself.
int remember(uint32_t function, int code) noexcept;

// Calls a handler of the program. Gives the code, which it may have changed.
int call_handler(void* face_function, const core::Comm* comm, const core::Session* session,
                 int code) noexcept;
int call_handler(void* face_function, core::Win* win, int code) noexcept;
int call_handler(void* face_function, core::File* file, int code) noexcept;

// What MPI_Error_string gives: with function and cause if it was the last error of this thread.
bool error_text(int code, std::string& text);

} // namespace zipmpi::abi
