// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that free their handle, with an error inside: the error goes to the handler that the object had, even
// if the object has been freed by then. Started with mpiexec --keep-going; the last rank dies during the
// test.
#include "check.hpp"

#include <csignal>
#include <string>
#include <unistd.h>

namespace {

int handled = 0;
constexpr int refused = MPI_ERR_OTHER;

// Counts only if the communicator is null or still usable.
void on_comm_error(MPI_Comm* comm, int*, ...) {
    int size = 1;
    if (*comm == MPI_COMM_NULL || (MPI_Comm_size(*comm, &size) == MPI_SUCCESS && size > 0)) ++handled;
}
void on_win_error(MPI_Win*, int*, ...) { ++handled; }
void on_file_error(MPI_File*, int*, ...) { ++handled; }

int reject_comm(MPI_Comm, int, void*, void*) { return refused; }
int reject_win(MPI_Win, int, void*, void*) { return refused; }
int reject_type(MPI_Datatype, int, void*, void*) { return refused; }

// The call must fail, and its error must have reached the object's handler.
void expect_handled(int code, const char* call) {
    check_at(code != MPI_SUCCESS && handled == 1, call, __FILE__, __LINE__);
    handled = 0;
}

MPI_Win window_with_handler(MPI_Errhandler handler) {
    void* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS);
    CHECK(MPI_Win_set_errhandler(win, handler) == MPI_SUCCESS);
    return win;
}

// A delete callback fails: the object stays.
void test_rejected_by_attributes(MPI_Errhandler comm_handler, MPI_Errhandler win_handler) {
    int key = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, comm_handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reject_comm, &key, nullptr);
    MPI_Comm_set_attr(comm, key, &key);
    expect_handled(MPI_Comm_free(&comm), "MPI_Comm_free");
    CHECK(comm != MPI_COMM_NULL);
    expect_handled(MPI_Comm_disconnect(&comm), "MPI_Comm_disconnect");

    MPI_Win win = window_with_handler(win_handler);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, reject_win, &key, nullptr);
    MPI_Win_set_attr(win, key, &key);
    expect_handled(MPI_Win_free(&win), "MPI_Win_free");
    CHECK(win != MPI_WIN_NULL);

    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, reject_type, &key, nullptr);
    MPI_Type_set_attr(type, key, &key);
    CHECK(MPI_Type_free(&type) != MPI_SUCCESS && type != MPI_DATATYPE_NULL);
}

void test_null_handles() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    FAILS(MPI_Comm_free(&comm), MPI_ERR_COMM);
    FAILS(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
    FAILS(MPI_Win_free(&win), MPI_ERR_WIN);
    FAILS(MPI_File_close(&file), MPI_ERR_FILE);
    FAILS(MPI_Session_finalize(&session), MPI_ERR_SESSION);
    FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
    FAILS(MPI_Group_free(&group), MPI_ERR_GROUP);
    FAILS(MPI_Info_free(&info), MPI_ERR_INFO);
    FAILS(MPI_Op_free(&op), MPI_ERR_OP);
    FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Errhandler_free(&handler), MPI_ERR_ERRHANDLER);
}

int wait_for_all(MPI_Request* request) { return MPI_Waitall(1, request, MPI_STATUSES_IGNORE); }
int wait_for_one(MPI_Request* request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }
int wait_for_any(MPI_Request* request) {
    int index = 0;
    return MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
}
int wait_for_some(MPI_Request* request) {
    int done = 0;
    int index = 0;
    return MPI_Waitsome(1, request, &done, &index, MPI_STATUSES_IGNORE);
}
int test_one(MPI_Request* request) {
    int flag = 0;
    return MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}
int test_all(MPI_Request* request) {
    int flag = 0;
    return MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
}
int test_any(MPI_Request* request) {
    int flag = 0;
    int index = 0;
    return MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
}
int test_some(MPI_Request* request) {
    int done = 0;
    int index = 0;
    return MPI_Testsome(1, request, &done, &index, MPI_STATUSES_IGNORE);
}

MPI_Comm self_with_handler(MPI_Errhandler handler) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(comm, handler) == MPI_SUCCESS);
    return comm;
}

// A request or message is the last reference to its communicator, and fails: the message is too long.
void test_last_users(MPI_Errhandler handler, bool calls) {
    int two[2] = {1, 2};
    int one = 0;
    for (auto* const complete :
         {wait_for_one, wait_for_all, wait_for_any, wait_for_some, test_one, test_all, test_any, test_some}) {
        MPI_Comm comm = self_with_handler(handler);
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(MPI_Irecv(&one, 1, MPI_INT, 0, 1, comm, &request) == MPI_SUCCESS);
        CHECK(MPI_Send(two, 2, MPI_INT, 0, 1, comm) == MPI_SUCCESS);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        CHECK(complete(&request) != MPI_SUCCESS && request == MPI_REQUEST_NULL);
        CHECK(handled == (calls ? 1 : 0));
        handled = 0;
    }
    for (const bool at_once : {true, false}) {
        MPI_Comm comm = self_with_handler(handler);
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(MPI_Send(two, 2, MPI_INT, 0, 1, comm) == MPI_SUCCESS);
        CHECK(MPI_Mprobe(0, 1, comm, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        if (!at_once) CHECK(MPI_Imrecv(&one, 1, MPI_INT, &message, &request) == MPI_SUCCESS);
        FAILS(at_once ? MPI_Mrecv(&one, 1, MPI_INT, &message, MPI_STATUS_IGNORE) : wait_for_one(&request),
              MPI_ERR_TRUNCATE);
        CHECK(message == MPI_MESSAGE_NULL && handled == (calls ? 1 : 0));
        handled = 0;
    }
}

// A member has failed: the object is freed nevertheless, and its handler is called.
void test_after_failure(MPI_Errhandler comm_handler, MPI_Errhandler win_handler,
                        MPI_Errhandler file_handler) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, comm_handler);
    MPI_Win freed = window_with_handler(win_handler);
    MPI_Win returned = window_with_handler(MPI_ERRORS_RETURN);
    const std::string name = "freeing_errors." + std::to_string(getppid());
    CHECK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_set_errhandler(file, file_handler);
    if (rank_ == 0) std::remove(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == size_ - 1) raise(SIGKILL);
    expect_handled(MPI_Win_free(&freed), "MPI_Win_free after a death");
    CHECK(freed == MPI_WIN_NULL);
    FAILS(MPI_Win_free(&returned), MPIX_ERR_PROC_FAILED);
    expect_handled(MPI_File_close(&file), "MPI_File_close after a death");
    CHECK(file == MPI_FILE_NULL);
    const int code = MPI_Comm_disconnect(&comm);
    CHECK(handled == (code == MPI_SUCCESS ? 0 : 1));
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    MPI_Errhandler comm_handler = MPI_ERRHANDLER_NULL;
    MPI_Errhandler win_handler = MPI_ERRHANDLER_NULL;
    MPI_Errhandler file_handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(on_comm_error, &comm_handler);
    MPI_Win_create_errhandler(on_win_error, &win_handler);
    MPI_File_create_errhandler(on_file_error, &file_handler);
    test_null_handles();
    test_rejected_by_attributes(comm_handler, win_handler);
    test_last_users(comm_handler, true);
    test_last_users(MPI_ERRORS_RETURN, false);
    test_after_failure(comm_handler, win_handler, file_handler);
    session.end("freeing_errors");
    return 0;
}
