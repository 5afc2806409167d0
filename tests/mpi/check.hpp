// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions shared by the programs of this folder. They use only mpi.h, so that any MPI can run the programs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <vector>

inline int rank_ = 0;
inline int size_ = 0;
// Set by the argument "portable": leaves out behavior in which other libraries are known to differ.
inline bool portable_ = false;

inline void check_at(bool ok, const char* what, const char* file, int line) {
    if (ok) return;
    std::fprintf(stderr, "%s:%d: rank %d: check failed: %s\n", file, line, rank_, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    std::abort();
}
#define CHECK(condition) check_at((condition), #condition, __FILE__, __LINE__)
#define FAILS(call, error_class) check_at(class_of(call) == (error_class), #call, __FILE__, __LINE__)

inline int class_of(int code) {
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
    return error_class;
}

// Additions of MPI 4.1 are left out if the library that runs this is older.
#define HAVE_MPI_41 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

struct Session {
    Session(int* argc, char*** argv, int threads = MPI_THREAD_SINGLE) {
        int provided = 0;
        MPI_Init_thread(argc, argv, threads, &provided);
        for (int i = 1; i < *argc; ++i) portable_ = portable_ || std::strcmp((*argv)[i], "portable") == 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    void end(const char* program) const {
        if (rank_ == 0) std::printf("%s: ok\n", program);
        MPI_Finalize();
    }
};

// Whether all ranks can share memory.
inline bool on_one_host() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int here = 0;
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here == size_;
}

// In place: existing requests keep the address.
inline void renumber(std::vector<int>& v, int first) {
    for (int& x : v) x = first++;
}

inline std::vector<int> numbers(int n, int first) {
    std::vector<int> v(static_cast<size_t>(n));
    renumber(v, first);
    return v;
}

inline int count_of(const MPI_Status& status) {
    int n = 0;
    MPI_Get_count(&status, MPI_INT, &n);
    return n;
}

inline bool is_empty(const MPI_Status& status) {
    int cancelled = 1;
    MPI_Test_cancelled(&status, &cancelled);
    return status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count_of(status) == 0 &&
           cancelled == 0;
}

// Lengths in ints: inline, in one cell, and by rendezvous.
inline constexpr int lengths[] = {0, 1, 10, 11, 1000, 8000, 9000, 100000};
