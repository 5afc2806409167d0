// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// final_output.c in C++: the C++ runtime is loaded, but its streams are not initialized.
#include "final_output.c" // NOLINT(bugprone-suspicious-include)
