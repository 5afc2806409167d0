// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// User-defined error classes and codes. They are numbered after the last one of the ABI; numbers of removed
// ones are reused.
#pragma once

#include <string>

namespace zipmpi::abi {

bool is_user_code(int code) noexcept; // a class is also a code
// The class of a user-defined code, and its text; empty if none.
int user_error_class(int code) noexcept;
std::string user_error_text(int code);
// The largest number in use, for MPI_LASTUSEDCODE. The address is constant, the value changes.
const int* last_used_code() noexcept;

} // namespace zipmpi::abi
