// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Pack and MPI_Unpack against hand-written loops, in MB/s of packed bytes, for four layouts:
//   vector    pairs of numbers, every second pair
//   indexed   runs of 1 to 4 numbers, separated by holes of 1 to 3
//   subarray  64 columns of a matrix with 128
//   struct    an array of structures with padding
// Results: pack_LAYOUT, unpack_LAYOUT, pack_loop_LAYOUT, unpack_loop_LAYOUT.
#include "bench.h"
#include <stddef.h>

enum { columns = 128, used_columns = 64, max_runs = largest_message / 8 };

struct record {
    int kind;
    double position[2];
    char flags[4];
};
enum { record_bytes = sizeof(int) + 2 * sizeof(double) + 4 };

static double *loose, *checked; // noncontiguous data
static char* dense;
static int run_lengths[max_runs], run_displs[max_runs], runs;

static void copy(int packing, void* in_layout, char** packed, size_t bytes) {
    if (packing)
        memcpy(*packed, in_layout, bytes);
    else
        memcpy(in_layout, *packed, bytes);
    *packed += bytes;
}

static MPI_Datatype vector_type(size_t size) {
    MPI_Datatype type;
    MPI_Type_vector((int)(size / 16), 2, 4, MPI_DOUBLE, &type);
    return type;
}

static void vector_loop(size_t size, int packing) {
    double* packed = (double*)dense;
    for (size_t i = 0; i < size / 16; ++i)
        for (size_t k = 0; k < 2; ++k)
            if (packing)
                packed[2 * i + k] = loose[4 * i + k];
            else
                loose[4 * i + k] = packed[2 * i + k];
}

static void make_runs(size_t size) {
    int displ = 0, left = (int)(size / 8);
    for (runs = 0; left > 0; ++runs) {
        int length = 1 + (runs * 7 + 3) % 4;
        if (length > left) length = left;
        run_lengths[runs] = length;
        run_displs[runs] = displ;
        displ += length + 1 + runs % 3;
        left -= length;
    }
}

static MPI_Datatype indexed_type(size_t size) {
    MPI_Datatype type;
    make_runs(size);
    MPI_Type_indexed(runs, run_lengths, run_displs, MPI_DOUBLE, &type);
    return type;
}

static void indexed_loop(size_t size, int packing) {
    double* packed = (double*)dense;
    (void)size;
    for (int i = 0; i < runs; ++i)
        for (int k = 0; k < run_lengths[i]; ++k, ++packed)
            if (packing)
                *packed = loose[run_displs[i] + k];
            else
                loose[run_displs[i] + k] = *packed;
}

static MPI_Datatype subarray_type(size_t size) {
    const int rows = (int)(size / (used_columns * sizeof(double)));
    const int whole[2] = {rows, columns}, subsizes[2] = {rows, used_columns}, from[2] = {0, 32};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, whole, subsizes, from, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static void subarray_loop(size_t size, int packing) {
    char* packed = dense;
    for (size_t row = 0; row < size / (used_columns * sizeof(double)); ++row)
        copy(packing, loose + row * columns + 32, &packed, used_columns * sizeof(double));
}

static MPI_Datatype struct_type(size_t size) {
    const int lengths[3] = {1, 2, 4};
    const MPI_Aint displs[3] = {offsetof(struct record, kind), offsetof(struct record, position),
                                offsetof(struct record, flags)};
    const MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype fields, one, all;
    MPI_Type_create_struct(3, lengths, displs, types, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct record), &one);
    MPI_Type_contiguous((int)(size / record_bytes), one, &all);
    MPI_Type_free(&fields);
    MPI_Type_free(&one);
    return all;
}

static void struct_loop(size_t size, int packing) {
    struct record* record = (struct record*)loose;
    char* packed = dense;
    for (size_t i = 0; i < size / record_bytes; ++i, ++record) {
        copy(packing, &record->kind, &packed, sizeof record->kind);
        copy(packing, record->position, &packed, sizeof record->position);
        copy(packing, record->flags, &packed, sizeof record->flags);
    }
}

static const struct {
    const char* names[4]; // pack, unpack, and the loops
    MPI_Datatype (*type)(size_t size);
    void (*loop)(size_t size, int packing);
} layouts[] = {
    {{"pack_vector", "unpack_vector", "pack_loop_vector", "unpack_loop_vector"}, vector_type, vector_loop},
    {{"pack_indexed", "unpack_indexed", "pack_loop_indexed", "unpack_loop_indexed"},
     indexed_type,
     indexed_loop},
    {{"pack_subarray", "unpack_subarray", "pack_loop_subarray", "unpack_loop_subarray"},
     subarray_type,
     subarray_loop},
    {{"pack_struct", "unpack_struct", "pack_loop_struct", "unpack_loop_struct"}, struct_type, struct_loop}};
enum { layout_count = sizeof layouts / sizeof *layouts };

static void by_library(MPI_Datatype type, int bytes, int packing) {
    int position = 0;
    if (packing)
        MPI_Pack(loose, 1, type, dense, bytes, &position, MPI_COMM_SELF);
    else
        MPI_Unpack(dense, bytes, &position, loose, 1, type, MPI_COMM_SELF);
}

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    int layout = 0, what = 0;
    while (strcmp(layouts[layout].names[what], point->name))
        if (++what == 4) ++layout, what = 0;
    const int packing = what % 2 == 0;
    MPI_Datatype type = layouts[layout].type(point->size);
    MPI_Type_commit(&type);
    (void)bench, (void)stamp;
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i)
        if (what < 2)
            by_library(type, largest_message, packing);
        else
            layouts[layout].loop(point->size, packing);
    const double took = MPI_Wtime() - begin;
    MPI_Type_free(&type);
    return took;
}

// The library and the loop must agree, for packing and unpacking.
static void check_layout(int layout, size_t size) {
    const size_t whole = 4 * largest_message;
    MPI_Datatype type = layouts[layout].type(size);
    MPI_Type_commit(&type);
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    for (size_t i = 0; i < whole; ++i) ((char*)loose)[i] = (char)(i * 31 >> 3);
    layouts[layout].loop(size, 1);
    char* wanted = touched_memory((size_t)bytes);
    memcpy(wanted, dense, (size_t)bytes);
    memset(dense, 0, (size_t)bytes);
    by_library(type, largest_message, 1);
    if (memcmp(wanted, dense, (size_t)bytes)) fail("MPI_Pack and the loop differ");
    memset(loose, 0, whole);
    layouts[layout].loop(size, 0);
    memcpy(checked, loose, whole);
    memset(loose, 0, whole);
    by_library(type, largest_message, 0);
    if (memcmp(checked, loose, whole)) fail("MPI_Unpack and the loop differ");
    free(wanted);
    MPI_Type_free(&type);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    loose = (double*)touched_memory(4 * largest_message);
    checked = (double*)touched_memory(4 * largest_message);
    dense = touched_memory(largest_message);
    for (int i = 0; i < layout_count; ++i) {
        check_layout(i, 2048);
        check_layout(i, 40000);
        for (int what = 0; what < 4; ++what) add_sizes(&bench, layouts[i].names[what], argc, argv);
    }
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size,
               (double)bench.point[i].size / bench.point[i].per_iteration[0] * 1e-6, "MB/s");
    free(loose);
    free(checked);
    free(dense);
    MPI_Finalize();
    return 0;
}
