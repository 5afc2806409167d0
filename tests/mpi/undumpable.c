// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Loaded into a program by LD_PRELOAD: makes the process undumpable, so that others cannot read it.
#include <sys/prctl.h>

__attribute__((constructor)) static void become_undumpable(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
