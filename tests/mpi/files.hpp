// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions shared by the programs about files: one file of the whole job with a unique name, removed at the
// end.
#pragma once

#include "check.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <unistd.h>

// One path on all ranks, in a folder visible to all hosts of a test: each host has a private /tmp. Hosts of
// another test may have processes with the same ids, so the name also has the time.
inline std::string fresh_name(const char* what) {
    char name[256] = {};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::snprintf(name, sizeof name, "/var/tmp/zipmpi_%s_%d_%lld", what, static_cast<int>(getpid()),
                  static_cast<long long>(now));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    return name;
}

struct TestFile {
    std::string name;
    MPI_File fh = MPI_FILE_NULL;
    explicit TestFile(const char* what, int amode = MPI_MODE_CREATE | MPI_MODE_RDWR,
                      MPI_Info info = MPI_INFO_NULL)
        : name(fresh_name(what)) {
        CHECK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode | MPI_MODE_DELETE_ON_CLOSE, info, &fh) ==
              MPI_SUCCESS);
    }
    ~TestFile() { CHECK(MPI_File_close(&fh) == MPI_SUCCESS); }
    TestFile(const TestFile&) = delete;
    TestFile& operator=(const TestFile&) = delete;
    // Writes before this call are visible to reads after it.
    void sync() const {
        CHECK(MPI_File_sync(fh) == MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_File_sync(fh) == MPI_SUCCESS);
    }
};
