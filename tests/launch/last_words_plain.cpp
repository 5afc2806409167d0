// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// last_words.c in C++: the C++ runtime is there, but nobody has made its streams.
#include "last_words.c" // NOLINT(bugprone-suspicious-include)
