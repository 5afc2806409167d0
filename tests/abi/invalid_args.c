/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every implemented function with one invalid argument at a time: the error class must be right, and nothing
 * may crash or hang. The calls are generated from spec/ (gen/zipmpi_gen/invalid_args.py); this file has the
 * objects that they use: valid ones, freed ones, and variables for results. An object that the library cannot
 * create yet is null, and calls that need it are left out. A call that crashes or hangs ends the program with
 * the number of its case; the argument is the first case to run.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { seconds_per_case = 10 };

/* Not static: which of them are used depends on what is implemented. */
long data[512], more_data[512], scratch[1024];
int narrow_ones[4] = {1, 1, 1, 1}, narrow_zeros[4], narrow_minus_ones[4] = {-1, -1, -1, -1};
MPI_Count wide_ones[4] = {1, 1, 1, 1}, wide_zeros[4], wide_minus_ones[4] = {-1, -1, -1, -1};
int text_length = 8;
MPI_Status good_status;

#define OBJECTS(type, name, null)                                                                            \
    type good_##name = null, freed_##name = null, made_##name = null, good_##name##s[4] = {null};            \
    type* in_variable_##name(type value) {                                                                   \
        static type variable[4];                                                                             \
        for (int i = 0; i < 4; ++i) variable[i] = value;                                                     \
        return variable;                                                                                     \
    }                                                                                                        \
    void note_##name(void) {                                                                                 \
        for (int i = 0; i < 4; ++i) good_##name##s[i] = good_##name;                                         \
    }
OBJECTS(MPI_Comm, comm, MPI_COMM_NULL)
OBJECTS(MPI_Datatype, datatype, MPI_DATATYPE_NULL)
OBJECTS(MPI_Errhandler, errhandler, MPI_ERRHANDLER_NULL)
OBJECTS(MPI_Group, group, MPI_GROUP_NULL)
OBJECTS(MPI_Info, info, MPI_INFO_NULL)
OBJECTS(MPI_Message, message, MPI_MESSAGE_NULL)
OBJECTS(MPI_Op, op, MPI_OP_NULL)
OBJECTS(MPI_Request, request, MPI_REQUEST_NULL)
OBJECTS(MPI_Session, session, MPI_SESSION_NULL)
MPI_Datatype raw_datatype = MPI_DATATYPE_NULL; /* not committed */
MPI_Comm cart_comm = MPI_COMM_NULL;            /* with a topology: a ring of one rank */

static void harmless(void) {}

static void comm_handler(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

/* ---- objects; freed ones are created last of their kind, or another object would reuse their handle */

static void make_comms(void) {
    MPI_Comm_dup(MPI_COMM_SELF, &good_comm);
    MPI_Comm_set_errhandler(good_comm, MPI_ERRORS_RETURN);
    if (MPI_Cart_create(good_comm, 1, narrow_ones, narrow_ones, 0, &cart_comm) != MPI_SUCCESS)
        cart_comm = good_comm;
    if (cart_comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(cart_comm, MPI_ERRORS_RETURN);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    freed_comm = copy;
    MPI_Comm_free(&copy);
    note_comm();
}

static void make_datatypes(void) {
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    good_datatype = MPI_INT;
    if (MPI_Type_contiguous(2, MPI_INT, &raw_datatype) != MPI_SUCCESS) raw_datatype = MPI_DATATYPE_NULL;
    if (MPI_Type_contiguous(2, MPI_INT, &copy) == MPI_SUCCESS) {
        freed_datatype = copy;
        MPI_Type_free(&copy);
    }
    note_datatype();
}

static void make_messages(void) {
    MPI_Message copy;
    for (int i = 0; i < 2; ++i) MPI_Bsend(NULL, 0, MPI_INT, 0, 1, good_comm);
    MPI_Mprobe(0, 1, good_comm, &good_message, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 1, good_comm, &copy, MPI_STATUS_IGNORE);
    freed_message = copy;
    MPI_Mrecv(NULL, 0, MPI_INT, &copy, MPI_STATUS_IGNORE);
    note_message();
}

static void make_requests(void) {
    MPI_Request copy;
    MPI_Recv_init(data, 1, MPI_INT, 0, 2, good_comm, &good_request);
    MPI_Recv_init(data, 1, MPI_INT, 0, 2, good_comm, &copy);
    freed_request = copy;
    MPI_Request_free(&copy);
    note_request();
}

/* One valid and one freed object of each kind; the calls state which kinds the library implements. */
static void make_others(void) {
    MPI_Group group = MPI_GROUP_NULL;
    if (MPI_Comm_group(good_comm, &good_group) == MPI_SUCCESS &&
        MPI_Comm_group(good_comm, &group) == MPI_SUCCESS) {
        freed_group = group;
        MPI_Group_free(&group);
    }
    MPI_Info info = MPI_INFO_NULL;
    if (MPI_Info_create(&good_info) == MPI_SUCCESS && MPI_Info_create(&info) == MPI_SUCCESS) {
        freed_info = info;
        MPI_Info_free(&info);
    }
    MPI_Op op = MPI_OP_NULL;
    good_op = MPI_SUM;
    if (MPI_Op_create(add, 1, &op) == MPI_SUCCESS) {
        freed_op = op;
        MPI_Op_free(&op);
    }
    MPI_Errhandler handler;
    good_errhandler = MPI_ERRORS_RETURN;
    MPI_Comm_create_errhandler(comm_handler, &handler);
    freed_errhandler = handler;
    MPI_Errhandler_free(&handler);
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &good_session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    freed_session = session;
    MPI_Session_finalize(&session);
    note_group(), note_info(), note_op(), note_errhandler(), note_session();
}

/* Whether an object could be created. Null handles of a kind are small integers, as are valid predefined
 * ones. */
static int have(const void* handle, size_t size) {
    static const void* const nulls[] = {MPI_COMM_NULL,  MPI_DATATYPE_NULL, MPI_ERRHANDLER_NULL,
                                        MPI_GROUP_NULL, MPI_INFO_NULL,     MPI_MESSAGE_NULL,
                                        MPI_OP_NULL,    MPI_REQUEST_NULL,  MPI_SESSION_NULL};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; ++i)
        if (!memcmp(handle, &nulls[i], size)) return 0;
    return 1;
}

/* ---- cases */

static int first_case, cases, wrong;
static char current[256];

static void stop(int number) {
    const char* what = number == SIGALRM ? "hangs\n" : "crashes\n";
    if (write(STDOUT_FILENO, current, strlen(current)) < 0 || write(STDOUT_FILENO, what, strlen(what)) < 0)
        _exit(3);
    _exit(2);
}

static int begin_case(const char* function, const char* what) {
    if (++cases < first_case) return 0;
    snprintf(current, sizeof current, "case %d: %s: %s: ", cases, function, what);
    text_length = 8;
    alarm(seconds_per_case);
    return 1;
}

static void end_case(int code, int wanted) {
    int found = MPI_SUCCESS, length;
    alarm(0);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
    if (found == wanted) return;
    char text[2][MPI_MAX_ERROR_STRING];
    MPI_Error_string(code, text[0], &length);
    MPI_Error_string(wanted, text[1], &length);
    printf("%sgave %s, not %s\n", current, text[0], text[1]);
    ++wrong;
}

#include "invalid_args.inc"

int main(int argc, char** argv) {
    static char buffer[4096];
    first_case = argc > 1 ? atoi(argv[1]) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(buffer, sizeof buffer);
    make_comms();
    make_datatypes();
    make_messages();
    make_requests();
    make_others();
    const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) signal(signals[i], stop);
    all_invalid_args();
    printf("%d cases, %d wrong\n", cases, wrong);
    return wrong == 0 ? 0 : 1;
}
