// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Pack and MPI_Unpack against loops written by hand for the same layout: how many times as fast (1 is
// equal, more is better). One rank; sizes are bytes of packed data, elements are doubles unless the name says
// otherwise.
#include "bench.h"
#include <stddef.h>
#include <string.h>
#include <time.h>

enum { largest_packed = 1 << 20, reach = 8 * largest_packed };

struct record { // 13 bytes of data in 24
    int number;
    double value;
    int unused;
    char flag;
};

static char *memory, *packed;
static int places[largest_packed / 8], lengths[largest_packed / 8];

// --- loops by hand: from memory to packed and back, n elements

static void pack_every_second(size_t n) {
    const double* from = (const double*)memory;
    double* to = (double*)packed;
    for (size_t i = 0; i < n; ++i) to[i] = from[2 * i];
}
static void unpack_every_second(size_t n) {
    double* to = (double*)memory;
    const double* from = (const double*)packed;
    for (size_t i = 0; i < n; ++i) to[2 * i] = from[i];
}

static void pack_floats(size_t n) {
    const float* from = (const float*)memory;
    float* to = (float*)packed;
    for (size_t i = 0; i < 2 * n; ++i) to[i] = from[3 * i];
}
static void unpack_floats(size_t n) {
    float* to = (float*)memory;
    const float* from = (const float*)packed;
    for (size_t i = 0; i < 2 * n; ++i) to[3 * i] = from[i];
}

static void pack_blocks(size_t n) { // four of every seven
    const double* from = (const double*)memory;
    double* to = (double*)packed;
    for (size_t i = 0; i < n / 4; ++i)
        for (size_t k = 0; k < 4; ++k) to[4 * i + k] = from[7 * i + k];
}
static void unpack_blocks(size_t n) {
    double* to = (double*)memory;
    const double* from = (const double*)packed;
    for (size_t i = 0; i < n / 4; ++i)
        for (size_t k = 0; k < 4; ++k) to[7 * i + k] = from[4 * i + k];
}

static size_t list_length;
static void pack_list(size_t n) {
    const double* from = (const double*)memory;
    double* to = (double*)packed;
    (void)n;
    for (size_t i = 0; i < list_length; ++i)
        for (int k = 0; k < lengths[i]; ++k) *to++ = from[places[i] + k];
}
static void unpack_list(size_t n) {
    double* to = (double*)memory;
    const double* from = (const double*)packed;
    (void)n;
    for (size_t i = 0; i < list_length; ++i)
        for (int k = 0; k < lengths[i]; ++k) to[places[i] + k] = *from++;
}

static void pack_singles(size_t n) {
    const double* from = (const double*)memory;
    double* to = (double*)packed;
    for (size_t i = 0; i < n; ++i) to[i] = from[places[i]];
}
static void unpack_singles(size_t n) {
    double* to = (double*)memory;
    const double* from = (const double*)packed;
    for (size_t i = 0; i < n; ++i) to[places[i]] = from[i];
}

enum { box = 8, around = 16 }; // 8 x 8 x n/64 of 16 x 16 x n/64
static void pack_box(size_t n) {
    const double* from = (const double*)memory;
    double* to = (double*)packed;
    for (size_t z = 0; z < n / (box * box); ++z)
        for (size_t y = 0; y < box; ++y)
            for (size_t x = 0; x < box; ++x) *to++ = from[(z * around + y) * around + x];
}
static void unpack_box(size_t n) {
    double* to = (double*)memory;
    const double* from = (const double*)packed;
    for (size_t z = 0; z < n / (box * box); ++z)
        for (size_t y = 0; y < box; ++y)
            for (size_t x = 0; x < box; ++x) to[(z * around + y) * around + x] = *from++;
}

static size_t records(size_t n) { return n * 8 / 13; }
static void pack_records(size_t n) {
    const struct record* from = (const struct record*)memory;
    char* to = packed;
    for (size_t i = 0; i < records(n); ++i, to += 13) {
        memcpy(to, &from[i].number, 4);
        memcpy(to + 4, &from[i].value, 8);
        to[12] = from[i].flag;
    }
}
static void unpack_records(size_t n) {
    struct record* to = (struct record*)memory;
    const char* from = packed;
    for (size_t i = 0; i < records(n); ++i, from += 13) {
        memcpy(&to[i].number, from, 4);
        memcpy(&to[i].value, from + 4, 8);
        to[i].flag = from[12];
    }
}

// --- the same as datatypes

static MPI_Datatype every_second(size_t n) {
    MPI_Datatype type;
    MPI_Type_vector((int)n, 1, 2, MPI_DOUBLE, &type);
    return type;
}
static MPI_Datatype floats(size_t n) {
    MPI_Datatype type;
    MPI_Type_vector((int)(2 * n), 1, 3, MPI_FLOAT, &type);
    return type;
}
static MPI_Datatype blocks(size_t n) {
    MPI_Datatype type;
    MPI_Type_vector((int)(n / 4), 4, 7, MPI_DOUBLE, &type);
    return type;
}
static MPI_Datatype list(size_t n) {
    MPI_Datatype type;
    size_t filled = 0;
    int at = 0;
    for (list_length = 0; filled < n; ++list_length) {
        int length = 1 + (int)((list_length * 7919) % 5);
        if ((size_t)length > n - filled) length = (int)(n - filled);
        places[list_length] = at;
        lengths[list_length] = length;
        filled += (size_t)length;
        at += length + 1 + (int)((list_length * 104729) % 3);
    }
    MPI_Type_indexed((int)list_length, lengths, places, MPI_DOUBLE, &type);
    return type;
}
static MPI_Datatype singles(size_t n) {
    MPI_Datatype type;
    for (size_t i = 0; i < n; ++i) places[i] = (int)(3 * i + (i * i) % 2);
    MPI_Type_create_indexed_block((int)n, 1, places, MPI_DOUBLE, &type);
    return type;
}
static MPI_Datatype box_type(size_t n) {
    MPI_Datatype type;
    const int sizes[] = {(int)(n / (box * box)), around, around};
    const int parts[] = {(int)(n / (box * box)), box, box};
    const int starts[] = {0, 0, 0};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}
static MPI_Datatype record_type(size_t n) {
    MPI_Datatype one, sized, type;
    const int ones[] = {1, 1, 1};
    const MPI_Aint at[] = {offsetof(struct record, number), offsetof(struct record, value),
                           offsetof(struct record, flag)};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, ones, at, types, &one);
    MPI_Type_create_resized(one, 0, sizeof(struct record), &sized);
    MPI_Type_contiguous((int)records(n), sized, &type);
    MPI_Type_free(&one);
    MPI_Type_free(&sized);
    return type;
}

static const struct layout {
    const char *pack_name, *unpack_name;
    MPI_Datatype (*type)(size_t n);
    void (*pack)(size_t n);
    void (*unpack)(size_t n);
} layouts[] = {
    {"pack_vector", "unpack_vector", every_second, pack_every_second, unpack_every_second},
    {"pack_vector_float", "unpack_vector_float", floats, pack_floats, unpack_floats},
    {"pack_vector_blocks", "unpack_vector_blocks", blocks, pack_blocks, unpack_blocks},
    {"pack_indexed", "unpack_indexed", list, pack_list, unpack_list},
    {"pack_indexed_block", "unpack_indexed_block", singles, pack_singles, unpack_singles},
    {"pack_subarray", "unpack_subarray", box_type, pack_box, unpack_box},
    {"pack_struct", "unpack_struct", record_type, pack_records, unpack_records},
};
enum { layout_count = sizeof layouts / sizeof layouts[0] };

struct work {
    const struct layout* layout;
    size_t n; // doubles
    MPI_Datatype type;
    int bytes;
    int unpacks, by_hand;
};

static void once(const struct work* w) {
    int position = 0;
    if (w->by_hand) {
        (w->unpacks ? w->layout->unpack : w->layout->pack)(w->n);
        __asm__ volatile("" ::: "memory");
    } else if (w->unpacks) {
        MPI_Unpack(packed, w->bytes, &position, memory, 1, w->type, MPI_COMM_SELF);
    } else {
        MPI_Pack(memory, 1, w->type, packed, w->bytes, &position, MPI_COMM_SELF);
    }
}

// Of this thread's processor time: what other processes take from it does not count.
static double seconds_of(const struct work* w, long iterations) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (long i = 0; i < iterations; ++i) once(w);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double took = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return took / (double)iterations;
}

// Both write the same bytes, or there is nothing to compare.
static void compare(const struct work* w) {
    char* expected = touched_memory((size_t)w->bytes);
    struct work hand = *w, ours = *w;
    hand.by_hand = 1;
    hand.unpacks = ours.unpacks = 0;
    for (size_t i = 0; i < reach; ++i) memory[i] = (char)(i * 31 + (i >> 8));
    once(&hand);
    memcpy(expected, packed, (size_t)w->bytes);
    memset(packed, 0, (size_t)w->bytes);
    once(&ours);
    if (memcmp(expected, packed, (size_t)w->bytes) != 0) fail("MPI_Pack and the loop by hand differ");
    free(expected);
}

static double ratio(struct work* w, const struct bench* bench) {
    double ratios[most_sweeps];
    long iterations = 1;
    w->by_hand = 1;
    const double first = seconds_of(w, 3);
    if (first < bench->slice) iterations = (long)(bench->slice / first) + 1;
    if (iterations > bench->most) iterations = bench->most;
    for (int i = 0; i < bench->sweeps; ++i) {
        w->by_hand = 1;
        const double hand = seconds_of(w, iterations);
        w->by_hand = 0;
        ratios[i] = hand / seconds_of(w, iterations);
    }
    return median(ratios, bench->sweeps);
}

static void run(const struct bench* bench, const struct layout* layout, size_t size) {
    struct work w = {layout, size / 8, layout->type(size / 8), 0, 0, 0};
    MPI_Type_commit(&w.type);
    MPI_Type_size(w.type, &w.bytes);
    compare(&w);
    report(layout->pack_name, size, ratio(&w, bench), "x");
    w.unpacks = 1;
    report(layout->unpack_name, size, ratio(&w, bench), "x");
    MPI_Type_free(&w.type);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    size_t sizes[most_points];
    int count = message_sizes(argc, argv, sizes, most_points);
    memory = touched_memory(reach);
    packed = touched_memory(largest_packed + 64);
    for (int i = 0; i < count && bench.rank == 0; ++i) {
        const size_t size = sizes[i] / 512 * 512; // whole boxes
        if (size == 0 || size > largest_packed) continue;
        for (int k = 0; k < layout_count; ++k) run(&bench, &layouts[k], size);
    }
    free(memory);
    free(packed);
    MPI_Finalize();
    return 0;
}
