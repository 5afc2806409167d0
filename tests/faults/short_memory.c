// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded into ranks: after FAULTS_FALLOCATE_AFTER successful calls fallocate fails with ENOSPC. If
// FAULTS_RANK is set, only in that rank.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static int should_fail(void) {
    static int calls;
    const char* after = getenv("FAULTS_FALLOCATE_AFTER");
    const char* only = getenv("FAULTS_RANK");
    const char* rank = getenv("PMI_RANK");
    if (after == NULL || (only != NULL && rank != NULL && strcmp(only, rank) != 0)) return 0;
    return calls++ >= atoi(after);
}

typedef int (*Fallocate)(int, int, off_t, off_t);

static int try_next(const char* name, int fd, int mode, off_t offset, off_t length) {
    if (should_fail()) {
        errno = ENOSPC;
        return -1;
    }
    return ((Fallocate)dlsym(RTLD_NEXT, name))(fd, mode, offset, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    return try_next("fallocate", fd, mode, offset, length);
}
int fallocate64(int fd, int mode, off_t offset, off_t length) {
    return try_next("fallocate64", fd, mode, offset, length);
}
