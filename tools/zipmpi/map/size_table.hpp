// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Table of message sizes from a file of the communication matrix. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zipmpi::tool {

struct SizeClass {
    uint64_t smallest = 0; // bytes of a message
    uint64_t messages = 0;
};

// Of the lines "# size SMALLEST MESSAGES" of a matrix file.
std::vector<SizeClass> message_sizes(std::string_view matrix_file);
std::string size_table(const std::vector<SizeClass>& sizes); // empty if there are no messages

} // namespace zipmpi::tool
