// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Edit distance of two words, for suggestions in messages about unknown names.
#pragma once

#include <cstddef>
#include <string_view>

namespace zipmpi {

// Number of letters to insert, delete or replace to turn one word into the other.
size_t edit_distance(std::string_view a, std::string_view b);

} // namespace zipmpi
