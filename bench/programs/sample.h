// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions shared by all programs, with MPI or without: options of the form name=value, medians, and the
// form of a result, a line "name size value unit".
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_sweeps = 64, largest_message = 4 << 20 };

static inline const char* text_option(int argc, char** argv, const char* name, const char* otherwise) {
    const size_t length = strlen(name);
    for (int i = 1; i < argc; ++i)
        if (!strncmp(argv[i], name, length) && argv[i][length] == '=') return argv[i] + length + 1;
    return otherwise;
}

static inline double number_option(int argc, char** argv, const char* name, double otherwise) {
    const char* text = text_option(argc, argv, name, NULL);
    return text ? strtod(text, NULL) : otherwise;
}

static inline int sweeps_option(int argc, char** argv, int otherwise) {
    const int sweeps = (int)number_option(argc, argv, "sweeps", otherwise);
    return sweeps < 1 ? 1 : sweeps > max_sweeps ? max_sweeps : sweeps;
}

static inline int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static inline double median(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static inline void report(const char* name, size_t size, double value, const char* unit) {
    printf("%s %zu %.6g %s\n", name, size, value, unit);
    fflush(stdout);
}

// The sizes of the option sizes=a,b,c.
static inline int message_sizes(int argc, char** argv, size_t* sizes, int capacity) {
    const char* list =
        text_option(argc, argv, "sizes", "1,8,64,1024,4096,16384,65536,262144,1048576,4194304");
    int count = 0;
    for (char* end; *list && count < capacity; list = *end ? end + 1 : end) {
        const unsigned long long size = strtoull(list, &end, 10);
        if (end == list || size > largest_message) {
            fprintf(stderr, "bench: sizes= must be numbers up to %d, not '%s'\n", largest_message, list);
            exit(2);
        }
        sizes[count++] = (size_t)size;
    }
    return count;
}

// Page-aligned memory, touched, so that no first touch is timed.
static inline char* touched_memory(size_t bytes) {
    void* memory = NULL;
    if (posix_memalign(&memory, 4096, bytes ? bytes : 1)) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        exit(2);
    }
    memset(memory, 0, bytes);
    return memory;
}

#endif
