// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: cxx_callbacks PATH, with 2 ranks
// Prints ok: callbacks of MPICH's C++ interface, which get objects of C++.
#include <cstdio>
#include <mpi.h>

static int failures, ranks;

static void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s does not hold\n", what);
    ++failures;
}

static void add(const void* in, void* inout, int length, const MPI::Datatype& type) {
    check(type == MPI::INT && type.Get_size() == 4, "datatype of an operation");
    for (int i = 0; i < length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

static void operations() {
    int ones[2] = {1, 1}, sums[2] = {0, 0};
    MPI::Op op;
    op.Init(add, true);
    MPI::COMM_WORLD.Allreduce(ones, sums, 2, MPI::INT, op);
    check(sums[0] == ranks && sums[1] == ranks, "sums of an operation");
    op.Free();
    check(op == MPI::OP_NULL, "freed operation");
}

static int handled;
static int size_of(const MPI::Comm& comm) { return comm.Get_size(); }

static void comm_failed(MPI::Comm& comm, int* code, ...) {
    check(size_of(comm) == ranks, "communicator of an error");
    check(MPI::Get_error_class(*code) == MPI::ERR_RANK, "class of an error");
    *code = MPI_SUCCESS; // else the inline function would call the handler again
    ++handled;
}
static void win_failed(MPI::Win& win, int* code, ...) {
    check(win.Get_group().Get_size() == ranks, "window of an error");
    *code = MPI_SUCCESS;
    ++handled;
}
static void file_failed(MPI::File& file, int* code, ...) {
    check(file.Get_size() == 0, "file of an error");
    *code = MPI_SUCCESS;
    ++handled;
}
static void c_failed(MPI_Comm* comm, int* code, ...) {
    check(*comm == MPI_COMM_SELF, "communicator of an error in C");
    *code = MPI_SUCCESS;
    ++handled;
}

static void error_handlers(const char* path) {
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(comm_failed);
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    comm.Set_errhandler(handler);
    handler.Free();
    comm.Send(nullptr, 0, MPI::INT, 77, 0);
    check(handled == 1, "call of the handler of a communicator");
    comm.Call_errhandler(MPI::ERR_RANK);
    check(handled == 2, "explicit call of the handler");
    comm.Free();
    int value = 0;
    MPI::Win win = MPI::Win::Create(&value, sizeof value, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Set_errhandler(MPI::Win::Create_errhandler(win_failed));
    win.Put(&value, 1, MPI::INT, 77, 0, 1, MPI::INT);
    check(handled == 3, "call of the handler of a window");
    win.Free();
    MPI::File file = MPI::File::Open(
        MPI::COMM_WORLD, path, MPI::MODE_CREATE | MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
    file.Set_errhandler(MPI::File::Create_errhandler(file_failed));
    file.Seek(-1, MPI::SEEK_SET);
    check(handled == 4, "call of the handler of a file");
    file.Close();
    MPI_Errhandler plain;
    MPI_Comm_create_errhandler(c_failed, &plain);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, plain);
    MPI_Send(nullptr, 0, MPI_INT, 77, 0, MPI_COMM_SELF);
    check(handled == 5, "call of a handler of C");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&plain);
}

static int state, copies, deletions;

static int copy_comm(const MPI::Comm& comm, int, void* extra, void* in, void* out, bool& flag) {
    check(size_of(comm) == ranks && extra == &state, "arguments of a copy callback");
    *static_cast<void**>(out) = static_cast<char*>(in) + 1;
    flag = true;
    ++copies;
    return MPI_SUCCESS;
}
static int delete_comm(MPI::Comm& comm, int, void*, void* extra) {
    check(size_of(comm) == ranks && extra == &state, "arguments of a delete callback");
    ++deletions;
    return MPI_SUCCESS;
}
static int copy_type(const MPI::Datatype& type, int, void*, void* in, void* out, bool& flag) {
    check(type.Get_size() == 4, "datatype of a copy callback");
    *static_cast<void**>(out) = in;
    flag = true;
    ++copies;
    return MPI_SUCCESS;
}
static int delete_type(MPI::Datatype& type, int, void*, void*) {
    check(type.Get_size() == 4, "datatype of a delete callback");
    ++deletions;
    return MPI_SUCCESS;
}

static void attributes() {
    char text[] = "ab";
    void* value = nullptr;
    int keyval = MPI::Comm::Create_keyval(copy_comm, delete_comm, &state);
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    comm.Set_attr(keyval, text);
    MPI::Intracomm other = comm.Dup();
    check(other.Get_attr(keyval, &value) && value == text + 1, "copied attribute");
    other.Free();
    comm.Free();
    check(copies == 1 && deletions == 2, "calls of callbacks of communicators");
    MPI::Comm::Free_keyval(keyval);
    keyval = MPI::Datatype::Create_keyval(copy_type, delete_type, nullptr);
    MPI::Datatype type = MPI::INT.Dup();
    type.Set_attr(keyval, text);
    MPI::Datatype copy = type.Dup();
    check(copy.Get_attr(keyval, &value) && value == text, "copied attribute of a datatype");
    copy.Free();
    type.Free();
    check(copies == 2 && deletions == 4, "calls of callbacks of datatypes");
    int* bound = nullptr;
    check(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &bound) && *bound >= 32767, "predefined attribute");
}

static int query(void* extra, MPI::Status& status) {
    check(extra == &state, "state of a generalized request");
    status.Set_elements(MPI::INT, 3);
    status.Set_cancelled(false);
    status.Set_source(5);
    status.Set_tag(6);
    return MPI_SUCCESS;
}
static int free_state(void*) {
    ++state;
    return MPI_SUCCESS;
}
static int cancel(void*, bool) { return MPI_SUCCESS; }

static void requests() {
    MPI::Status status;
    MPI::Grequest request = MPI::Grequest().Start(query, free_state, cancel, &state);
    request.Complete();
    request.Wait(status);
    check(status.Get_source() == 5 && status.Get_tag() == 6 && status.Get_elements(MPI::INT) == 3, "status");
    check(state == 1 && request == MPI::REQUEST_NULL, "end of a generalized request");
}

int main(int argc, char** argv) {
    MPI::Init(argc, argv);
    const int rank = MPI::COMM_WORLD.Get_rank();
    ranks = MPI::COMM_WORLD.Get_size();
    operations();
    error_handlers(argv[1]);
    attributes();
    requests();
    MPI::COMM_WORLD.Barrier();
    MPI::Finalize();
    if (rank == 0 && failures == 0) std::puts("ok");
    return failures;
}
