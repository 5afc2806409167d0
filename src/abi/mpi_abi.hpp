// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// mpi.h for use inside the library: its functions are the only exported names.
#pragma once

#pragma GCC visibility push(default)
#include "mpi.h"
#pragma GCC visibility pop
