// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Mistakes that the library must explain: faulty CASE [all|return].
// By default rank 1 makes the mistake while the others wait in a barrier; with "all" every rank makes it at
// once; with "return" rank 1 makes it under MPI_ERRORS_RETURN and prints the text of MPI_Error_string.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static int x[8], y[8];
static const MPI_Comm world = MPI_COMM_WORLD;

static int bad_rank(void) { return MPI_Send(x, 1, MPI_INT, 99, 0, world); }
static int bad_source(void) { return MPI_Recv(x, 1, MPI_INT, -7, 0, world, MPI_STATUS_IGNORE); }
static int bad_tag(void) { return MPI_Send(x, 1, MPI_INT, 0, -5, world); }
static int any_tag_in_send(void) { return MPI_Send(x, 1, MPI_INT, 0, MPI_ANY_TAG, world); }
static int bad_count(void) { return MPI_Send(x, -3, MPI_INT, 0, 0, world); }
static int null_buffer(void) { return MPI_Send(NULL, 4, MPI_INT, 0, 0, world); }
static int in_place_in_send(void) { return MPI_Send(MPI_IN_PLACE, 4, MPI_INT, 0, 0, world); }
static int null_comm(void) { return MPI_Comm_size(MPI_COMM_NULL, x); }
static int null_pointer(void) { return MPI_Comm_size(world, NULL); }
static int null_type(void) { return MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, world); }
static int wrong_handle(void) { return MPI_Send(x, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 0, world); }
static int bad_root(void) { return MPI_Bcast(x, 1, MPI_INT, 77, world); }
static int null_op(void) { return MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL, world); }
static int null_errhandler(void) { return MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL); }
static int bad_error_code(void) { return MPI_Error_class(-5, x); }
static int second_init(void) { return MPI_Init(NULL, NULL); }
static int no_such_port(void) { return MPI_Close_port("nonsense"); }
static int own_abort(void) { return MPI_Abort(world, 7); }
static int own_abort_zero(void) { return MPI_Abort(world, 0); }

static int op_for_type(void) {
    double a = 1, b;
    return MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_BAND, world);
}

static int freed_comm(void) {
    MPI_Comm copy, stale;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    stale = copy;
    MPI_Comm_free(&copy);
    return MPI_Comm_rank(stale, x);
}

static int free_world(void) {
    MPI_Comm mine = MPI_COMM_WORLD;
    return MPI_Comm_free(&mine);
}

static int stale_request(void) {
    MPI_Request r, stale;
    MPI_Irecv(x, 1, MPI_INT, rank, 0, world, &r);
    stale = r;
    MPI_Send(y, 1, MPI_INT, rank, 0, world);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return MPI_Wait(&stale, MPI_STATUS_IGNORE);
}

static int stale_request_in_array(void) {
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(x, 1, MPI_INT, MPI_PROC_NULL, 0, world, &r[0]);
    r[2] = r[0];
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    return MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

static int truncation(void) {
    MPI_Request r;
    MPI_Isend(x, 4, MPI_INT, rank, 6, world, &r);
    return MPI_Recv(y, 1, MPI_INT, rank, 6, world, MPI_STATUS_IGNORE);
}

static int truncation_in_waitall(void) {
    MPI_Request r[2];
    MPI_Status s[2];
    MPI_Irecv(y, 1, MPI_INT, rank, 6, world, &r[0]);
    MPI_Isend(x, 4, MPI_INT, rank, 6, world, &r[1]);
    const int code = MPI_Waitall(2, r, s);
    return code == MPI_ERR_IN_STATUS ? s[0].MPI_ERROR : code;
}

// Mistakes in which all ranks take part.
static int sent_less(void) { return MPI_Bcast(x, rank == 0 ? 2 : 8, MPI_INT, 0, world); }
static int functions_differ(void) {
    if (rank == 1) return MPI_Bcast(x, 8, MPI_INT, 0, world);
    return MPI_Barrier(world);
}
static int counts_differ(void) { return MPI_Bcast(x, rank == 0 ? 8 : 4, MPI_INT, 0, world); }

static int segfault(void) {
    signal(SIGSEGV, SIG_DFL); // a sanitizer may have installed a handler
    return raise(SIGSEGV);
}
static int kill_itself(void) { return raise(SIGKILL); }
static int exit_3(void) { exit(3); }
static int no_finalize(void) { exit(0); }
static int sleeps(void) { return (int)sleep(60); }

static const struct {
    const char* name;
    int (*run)(void);
    int error_class;
} cases[] = {
#define CASE(name, error_class)                                                                              \
    { #name, name, error_class }
    CASE(bad_rank, MPI_ERR_RANK),
    CASE(bad_source, MPI_ERR_RANK),
    CASE(bad_tag, MPI_ERR_TAG),
    CASE(any_tag_in_send, MPI_ERR_TAG),
    CASE(bad_count, MPI_ERR_COUNT),
    CASE(null_buffer, MPI_ERR_BUFFER),
    CASE(in_place_in_send, MPI_ERR_BUFFER),
    CASE(null_comm, MPI_ERR_COMM),
    CASE(null_pointer, MPI_ERR_ARG),
    CASE(null_type, MPI_ERR_TYPE),
    CASE(wrong_handle, MPI_ERR_TYPE),
    CASE(bad_root, MPI_ERR_ROOT),
    CASE(null_op, MPI_ERR_OP),
    CASE(op_for_type, MPI_ERR_OP),
    CASE(null_errhandler, MPI_ERR_ERRHANDLER),
    CASE(bad_error_code, MPI_ERR_ARG),
    CASE(second_init, MPI_ERR_OTHER),
    CASE(no_such_port, MPI_ERR_PORT),
    CASE(freed_comm, MPI_ERR_COMM),
    CASE(free_world, MPI_ERR_COMM),
    CASE(stale_request, MPI_ERR_REQUEST),
    CASE(stale_request_in_array, MPI_ERR_REQUEST),
    CASE(truncation, MPI_ERR_TRUNCATE),
    CASE(truncation_in_waitall, MPI_ERR_TRUNCATE),
    CASE(counts_differ, MPI_ERR_TRUNCATE),
    CASE(sent_less, MPI_ERR_NOT_SAME),
    CASE(functions_differ, MPI_ERR_NOT_SAME),
    CASE(own_abort, 0),
    CASE(own_abort_zero, 0),
    CASE(segfault, 0),
    CASE(kill_itself, 0),
    CASE(exit_3, 0),
    CASE(no_finalize, 0),
    CASE(sleeps, 0),
};

// Calls that are wrong because of when they are made.
static int outside(const char* name) {
    if (strcmp(name, "before_init") == 0) return MPI_Comm_size(world, x), 1;
    if (strcmp(name, "after_finalize") != 0) return 0;
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    MPI_Barrier(world);
    return 1;
}

static void show(int code, int wanted) {
    char text[MPI_MAX_ERROR_STRING];
    int error_class, length;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    printf("%s class: %s\n", error_class == wanted ? "right" : "wrong", text);
}

int main(int argc, char** argv) {
    const char* name = argc > 1 ? argv[1] : "";
    const char* mode = argc > 2 ? argv[2] : "one";
    if (outside(name)) return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    if (strcmp(mode, "return") == 0) {
        MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (strcmp(name, cases[i].name) != 0) continue;
        MPI_Barrier(world);
        const int mine = rank == 1 || strcmp(mode, "all") == 0 || cases[i].run == counts_differ ||
                         cases[i].run == sent_less || cases[i].run == functions_differ;
        const int code = mine ? cases[i].run() : MPI_SUCCESS;
        if (rank == 1 && strcmp(mode, "return") == 0) show(code, cases[i].error_class);
        MPI_Barrier(world);
    }
    MPI_Finalize();
    return 0;
}
