// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Hints for files: the supported keys and their meaning.
#pragma once

#include "core/io/file.hpp"

namespace zipmpi::core::io {

// Applies the supported hints; null: none. Invalid values are ignored.
void apply_hints(File& file, Info* info);
// Permissions of a created file.
unsigned permissions_of(Info* info);

} // namespace zipmpi::core::io
