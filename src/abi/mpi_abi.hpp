// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// mpi.h as the library itself sees it: its functions are the only names that leave the library.
#pragma once

#pragma GCC visibility push(default)
#include "mpi.h"
#pragma GCC visibility pop
