// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Error classes and codes that the program adds. Their numbers follow the last of the ABI; one that was
// removed is used again.
#pragma once

#include <string>

namespace zipmpi::abi {

bool is_added_code(int code) noexcept; // a class is a code as well
// The class of an added code, and its text; empty if it has none.
int class_of_added(int code) noexcept;
std::string text_of_added(int code);
// The largest number in use, for MPI_LASTUSEDCODE. It stays where it is and changes.
const int* last_used_code() noexcept;

} // namespace zipmpi::abi
