// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Finding the word that somebody meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace zipmpi {

// Letters to be put in, left out or changed to make one word of the other.
size_t edit_distance(std::string_view a, std::string_view b);

} // namespace zipmpi
