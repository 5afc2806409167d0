// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The generated layout checks of mpi.h, compiled as C++.
#include "layout_probe.c"
