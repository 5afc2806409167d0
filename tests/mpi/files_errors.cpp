// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Errors of file operations, and the handlers that get them. usage: files_errors
#include "files.hpp"

#include <sys/stat.h>

namespace {

MPI_File opened = MPI_FILE_NULL;

int open_as(const std::string& name, int amode) {
    return MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &opened);
}

void wrong_modes() {
    const std::string name = fresh_name("modes");
    FAILS(open_as(name, 0), MPI_ERR_AMODE);
    FAILS(open_as(name, MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE);
    FAILS(open_as(name, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    FAILS(open_as(name, MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE);
    FAILS(open_as(name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    CHECK(opened == MPI_FILE_NULL);
    if (size_ > 1)
        FAILS(open_as(name, MPI_MODE_CREATE | (rank_ == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY)),
              MPI_ERR_NOT_SAME);
}

void names() {
    const std::string name = fresh_name("names");
    FAILS(open_as(name, MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    FAILS(open_as(name + "/x", MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_NO_SUCH_FILE);
    FAILS(open_as("/tmp", MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    FAILS(open_as(name + std::string(5000, 'x'), MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_BAD_FILE);
    FAILS(MPI_File_delete(name.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    CHECK(open_as(name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL) == MPI_SUCCESS);
    CHECK(MPI_File_close(&opened) == MPI_SUCCESS);
    FAILS(open_as(name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
    if (rank_ == 0) CHECK(chmod(name.c_str(), 0) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (geteuid() != 0) FAILS(open_as(name, MPI_MODE_RDONLY), MPI_ERR_ACCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) CHECK(MPI_File_delete(name.c_str(), MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Operations that the access mode does not allow.
void wrong_directions() {
    const std::string name = fresh_name("directions");
    int x = 0;
    CHECK(open_as(name, MPI_MODE_WRONLY | MPI_MODE_CREATE) == MPI_SUCCESS);
    FAILS(MPI_File_read(opened, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    FAILS(MPI_File_read_all(opened, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK(MPI_File_close(&opened) == MPI_SUCCESS);
    CHECK(open_as(name, MPI_MODE_RDONLY) == MPI_SUCCESS);
    FAILS(MPI_File_write(opened, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_write_at_all(opened, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    FAILS(MPI_File_set_size(opened, 10), MPI_ERR_READ_ONLY);
    CHECK(MPI_File_close(&opened) == MPI_SUCCESS);
    CHECK(open_as(name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE) == MPI_SUCCESS);
    MPI_Offset at = 0;
    FAILS(MPI_File_write_at(opened, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_write(opened, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek(opened, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_get_position(opened, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_File_write_shared(opened, &x, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_close(&opened) == MPI_SUCCESS);
    FAILS(open_as(name, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
}

void wrong_arguments() {
    const TestFile f("arguments");
    int x = 0;
    FAILS(MPI_File_write_at(f.fh, -1, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    FAILS(MPI_File_write_at(f.fh, 0, &x, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    FAILS(MPI_File_write_at(f.fh, 0, &x, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    FAILS(MPI_File_write_at(f.fh, 0, nullptr, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    FAILS(MPI_File_seek(f.fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    FAILS(MPI_File_seek(f.fh, 0, 12345), MPI_ERR_ARG);
    FAILS(MPI_File_set_size(f.fh, -1), MPI_ERR_ARG);
    if (size_ > 1) FAILS(MPI_File_set_size(f.fh, rank_), MPI_ERR_NOT_SAME);
    FAILS(MPI_File_set_view(f.fh, -3, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(MPI_File_set_view(f.fh, 0, MPI_INT, MPI_INT, "ebcdic", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    FAILS(MPI_File_set_view(f.fh, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    FAILS(MPI_File_read_all_end(f.fh, &x, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK(MPI_File_write_all_begin(f.fh, &x, 1, MPI_INT) == MPI_SUCCESS);
    FAILS(MPI_File_write_all_begin(f.fh, &x, 1, MPI_INT), MPI_ERR_IO);
    FAILS(MPI_File_write_at_all_end(f.fh, &x, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK(MPI_File_write_all_end(f.fh, &x, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(f.fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    FAILS(MPI_File_write_at(f.fh, 0, &x, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_IO);
    MPI_Barrier(MPI_COMM_WORLD);
}

// One rank makes a mistake in a collective call: it gets its error, the others complete.
void one_is_wrong() {
    const TestFile f("one_is_wrong");
    const int x = rank_;
    const int code =
        MPI_File_write_at_all(f.fh, 4 * rank_, &x, rank_ == 0 ? -1 : 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == (rank_ == 0 ? MPI_ERR_COUNT : MPI_SUCCESS));
    int y = -1;
    if (rank_ != 0)
        CHECK(MPI_File_read_at(f.fh, 4 * rank_, &y, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && y == x);
    MPI_Barrier(MPI_COMM_WORLD);
}

int calls = 0;
MPI_File called_with = MPI_FILE_NULL;
int returned = 0; // returned by the handler instead of the code, if not 0
void count_call(MPI_File* fh, int* code, ...) {
    ++calls;
    if (returned != 0) *code = returned;
    called_with = *fh;
}

void handlers() {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CHECK(MPI_File_create_errhandler(count_call, &handler) == MPI_SUCCESS);
    const TestFile f("handlers");
    int x = 0;
    FAILS(MPI_File_write_at(f.fh, -1, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK(calls == 0);
    CHECK(MPI_File_set_errhandler(f.fh, handler) == MPI_SUCCESS);
    FAILS(MPI_File_write_at(f.fh, -1, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK(calls == 1 && called_with == f.fh);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handler) == MPI_SUCCESS);
    FAILS(open_as(f.name + "_not", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_delete((f.name + "_not").c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_write_at(MPI_FILE_NULL, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    CHECK(calls == 4 && called_with == MPI_FILE_NULL);
    returned = MPI_ERR_OTHER; // a handler may change the return value of the call
    FAILS(MPI_File_write_at(f.fh, -1, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    wrong_modes();
    names();
    wrong_directions();
    wrong_arguments();
    one_is_wrong();
    handlers();
    session.end("files_errors");
}
