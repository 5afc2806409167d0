// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// launch_keys HANDLER KINDS: the initial error handler and the kinds of memory requested at the launch apply
// to the world, to sessions, to errors without object and to spawned processes, and info objects report them.
#include "check.hpp"

#include <string>

namespace {

constexpr const char* handler_key = "mpi_initial_errhandler";
constexpr const char* kinds_key = "mpi_memory_alloc_kinds";

MPI_Errhandler handler_named(const std::string& name) {
    if (name == "mpi_errors_return") return MPI_ERRORS_RETURN;
    return name == "mpi_errors_abort" ? MPI_ERRORS_ABORT : MPI_ERRORS_ARE_FATAL;
}

std::string get(MPI_Info info, const char* key) {
    char value[MPI_MAX_INFO_VAL] = "";
    int room = sizeof value;
    int found = 0;
    MPI_Info_get_string(info, key, &room, value, &found);
    return found != 0 ? value : "nothing";
}

std::string kinds_in(MPI_Info info) {
    std::string kinds = get(info, kinds_key);
    MPI_Info_free(&info);
    return kinds;
}

std::string kinds_of(MPI_Comm comm) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm_get_info(comm, &info);
    return kinds_in(info);
}

std::string kinds_of(MPI_Session session) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session_get_info(session, &info);
    return kinds_in(info);
}

// Errors that return do so before MPI_Init and after MPI_Finalize, too.
void check_outside(const std::string& handler) {
    if (handler != "mpi_errors_return") return;
    FAILS(MPI_Info_set(MPI_INFO_NULL, "k", "v"), MPI_ERR_INFO);
}

void check_world(const std::string& handler) {
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        MPI_Errhandler found = MPI_ERRHANDLER_NULL;
        MPI_Comm_get_errhandler(comm, &found);
        CHECK(found == handler_named(handler));
        MPI_Errhandler_free(&found);
    }
    if (handler == "mpi_errors_return") FAILS(MPI_Info_set(MPI_INFO_NULL, "k", "v"), MPI_ERR_INFO);
}

void check_kinds(const std::string& kinds) {
    CHECK(kinds_of(MPI_COMM_WORLD) == kinds);
    int* memory = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win_get_info(win, &info);
    CHECK(kinds_in(info) == kinds);
    MPI_Win_free(&win);
    MPI_File file = MPI_FILE_NULL;
    CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_get_info(file, &info);
    CHECK(kinds_in(info) == kinds);
    MPI_File_close(&file);
}

void check_sessions(const std::string& handler, const std::string& kinds) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &session);
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    MPI_Session_get_errhandler(session, &found);
    CHECK(found == handler_named(handler));
    MPI_Errhandler_free(&found);
    CHECK(kinds_of(session) == kinds);
    MPI_Session_finalize(&session);

    MPI_Info wish = MPI_INFO_NULL;
    MPI_Info_create(&wish);
    MPI_Info_set(wish, kinds_key, "cuda,mpi:win_allocate,system");
    MPI_Session_init(wish, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&wish);
    const std::string own = "mpi:win_allocate,system";
    CHECK(kinds_of(session) == own);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    CHECK(kinds_of(comm) == own);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

// The child reports whether it found the requested settings.
void check_spawned(const char* program) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, handler_key, "mpi_errors_abort");
    MPI_Info_set(info, kinds_key, "mpi:alloc_mem,system");
    char child[] = "child";
    char handler[] = "mpi_errors_abort";
    char kinds[] = "mpi:alloc_mem,system";
    char* arguments[] = {handler, kinds, child, nullptr};
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Comm_spawn(program, arguments, 1, info, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);
    int good = 0;
    MPI_Recv(&good, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
    CHECK(good == 1);
    MPI_Comm_disconnect(&children);
}

void report_to_parent() {
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(parent, &found);
    CHECK(found == MPI_ERRORS_ABORT);
    MPI_Errhandler_free(&found);
    const int good = 1;
    MPI_Send(&good, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
}

} // namespace

int main(int argc, char** argv) {
    const std::string handler = argc > 1 ? argv[1] : "mpi_errors_are_fatal";
    const std::string kinds = argc > 2 ? argv[2] : "mpi,system";
    check_outside(handler);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    CHECK(get(MPI_INFO_ENV, handler_key) == handler);
    CHECK(get(MPI_INFO_ENV, kinds_key) == kinds);
    check_world(handler);
    check_kinds(kinds);
    check_sessions(handler, kinds);
    const bool child = argc > 3;
    if (child) report_to_parent();
    if (!child && rank_ == 0) check_spawned(argv[0]);
    if (!child && rank_ == 0) std::printf("launch_keys: ok\n");
    MPI_Finalize();
    check_outside(handler);
}
