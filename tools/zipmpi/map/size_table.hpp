// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Table of message sizes from a file of the communication matrix. Pure.
#pragma once

#include <string>
#include <string_view>

namespace zipmpi::tool {

// Of the lines "# size SMALLEST MESSAGES" of a matrix file; empty if there is none.
std::string size_table(std::string_view matrix_file);

} // namespace zipmpi::tool
