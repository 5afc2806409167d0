// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Hints for files: which are understood, and what they mean.
#pragma once

#include "core/io/file.hpp"

namespace zipmpi::core::io {

// Takes what is understood of hints that the program gives, null: none. Hints that make no sense are ignored.
void take_hints(File& file, Info* info);
// Permissions of a file that is created.
unsigned permissions_of(Info* info);

} // namespace zipmpi::core::io
