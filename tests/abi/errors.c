/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of the argument checks. Each row is a call that must fail, the error class it must return, and words
 * that the text of MPI_Error_string must contain.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong = 0;

static void expect(int line, int code, int wanted, const char* first, const char* second) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (code == wanted && strstr(text, first) != NULL && strstr(text, second) != NULL &&
        length == (int)strlen(text))
        return;
    printf("line %d: code %d, not %d, or its text has not '%s' and '%s': %s\n", line, code, wanted, first,
           second, text);
    ++wrong;
}
#define EXPECT(call, code, first, second) expect(__LINE__, call, code, first, second)

static void point_to_point(void) {
    int x[4] = {0}, flag;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm w = MPI_COMM_WORLD;
    EXPECT(MPI_Send(x, 1, MPI_INT, 9, 0, w), MPI_ERR_RANK, "MPI_Send",
           "destination 9 is not in MPI_COMM_WORLD");
    EXPECT(MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, w), MPI_ERR_RANK, "MPI_Send", "destination -1");
    EXPECT(MPI_Send(x, -3, MPI_INT, 0, 0, w), MPI_ERR_COUNT, "MPI_Send", "count is -3");
    EXPECT(MPI_Send_c(x, -5000000000, MPI_INT, 0, 0, w), MPI_ERR_COUNT, "MPI_Send_c", "count is -5000000000");
    EXPECT(MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, w), MPI_ERR_TYPE, "MPI_Send",
           "datatype is MPI_DATATYPE_NULL");
    EXPECT(MPI_Send(x, 1, (MPI_Datatype)MPI_SUM, 0, 0, w), MPI_ERR_TYPE, "MPI_Send",
           "is not a valid datatype handle");
    EXPECT(MPI_Send(x, 1, MPI_INT, 0, -7, w), MPI_ERR_TAG, "MPI_Send", "tag is -7");
    EXPECT(MPI_Send(x, 1, MPI_INT, 0, MPI_ANY_TAG, w), MPI_ERR_TAG, "MPI_Send", "MPI_ANY_TAG");
    EXPECT(MPI_Send(NULL, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER, "MPI_Send", "buf is the address 0");
    EXPECT(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER, "MPI_Send", "MPI_IN_PLACE");
    EXPECT(MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, "MPI_Send", "comm is MPI_COMM_NULL");
    EXPECT(MPI_Send(x, 1, MPI_INT, 0, 0, (MPI_Comm)0), MPI_ERR_COMM, "MPI_Send", "not a valid communicator");
    EXPECT(MPI_Recv(x, 1, MPI_INT, 5, 0, w, MPI_STATUS_IGNORE), MPI_ERR_RANK, "MPI_Recv", "source 5");
    EXPECT(MPI_Isend(x, 1, MPI_INT, 0, 0, w, NULL), MPI_ERR_ARG, "MPI_Isend", "request is a null pointer");
    EXPECT(MPI_Iprobe(0, 0, w, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG, "MPI_Iprobe", "flag is a null pointer");
    EXPECT(MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE), MPI_ERR_COUNT, "MPI_Waitall", "count is -1");
    EXPECT(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Waitall", "array_of_requests");
    r = (MPI_Request)MPI_INT;
    EXPECT(MPI_Waitall(1, &r, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST, "MPI_Waitall", "array_of_requests[0]");
    EXPECT(MPI_Test(&r, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "MPI_Test", "not a valid request");
    EXPECT(MPI_Get_count(NULL, MPI_INT, &flag), MPI_ERR_ARG, "MPI_Get_count", "status is a null pointer");
}

static void collectives(void) {
    double d[2] = {0}, e[2];
    MPI_Comm w = MPI_COMM_WORLD;
    EXPECT(MPI_Bcast(d, 1, MPI_DOUBLE, 3, w), MPI_ERR_ROOT, "MPI_Bcast", "root 3 is not in MPI_COMM_WORLD");
    EXPECT(MPI_Bcast(MPI_IN_PLACE, 1, MPI_DOUBLE, 0, w), MPI_ERR_BUFFER, "MPI_Bcast", "MPI_IN_PLACE");
    EXPECT(MPI_Allreduce(d, e, 1, MPI_DOUBLE, MPI_BAND, w), MPI_ERR_OP, "MPI_Allreduce",
           "MPI_BAND is not defined for MPI_DOUBLE");
    EXPECT(MPI_Allreduce(d, e, 1, MPI_DOUBLE, MPI_OP_NULL, w), MPI_ERR_OP, "MPI_Allreduce",
           "op is MPI_OP_NULL");
    EXPECT(MPI_Allreduce(d, NULL, 1, MPI_DOUBLE, MPI_SUM, w), MPI_ERR_BUFFER, "MPI_Allreduce", "recvbuf");
    EXPECT(MPI_Gather(d, 1, MPI_DOUBLE, e, -1, MPI_DOUBLE, 0, w), MPI_ERR_COUNT, "MPI_Gather",
           "recvcount is -1");
}

static void others(void) {
    int n;
    void* value;
    EXPECT(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "MPI_Comm_rank", "rank is a null pointer");
    EXPECT(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER,
           "MPI_Comm_set_errhandler", "MPI_ERRHANDLER_NULL");
    EXPECT(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &n), MPI_ERR_KEYVAL,
           "MPI_Comm_get_attr", "MPI_KEYVAL_INVALID");
    EXPECT(MPI_Comm_get_attr(MPI_COMM_WORLD, 12345, &value, &n), MPI_ERR_KEYVAL, "MPI_Comm_get_attr",
           "12345");
    EXPECT(MPI_Error_class(-5, &n), MPI_ERR_ARG, "MPI_Error_class", "-5 is not a valid error code");
    EXPECT(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &n), MPI_ERR_SESSION,
           "MPI_Session_get_num_psets", "MPI_SESSION_NULL");
}

static int seen_code = 0;
static MPI_Comm seen_comm = MPI_COMM_NULL;
static void handler(MPI_Comm* comm, int* code, ...) {
    seen_comm = *comm;
    seen_code = *code;
}

static void custom_handler(void) {
    MPI_Errhandler mine;
    int x = 0;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    if (MPI_Send(&x, 1, MPI_INT, 4, 0, MPI_COMM_SELF) != MPI_ERR_RANK || seen_code != MPI_ERR_RANK ||
        seen_comm != MPI_COMM_SELF) {
        printf("the user's error handler was not called correctly\n");
        ++wrong;
    }
    if (MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER) != MPI_SUCCESS || seen_code != MPI_ERR_OTHER) {
        printf("MPI_Comm_call_errhandler did not call\n");
        ++wrong;
    }
}

/* An error without an object goes to MPI_COMM_WORLD until the program sets an error handler on MPI_COMM_SELF.
 */
static void before_a_handler_on_self(void) {
    MPI_Errhandler mine;
    MPI_Datatype type;
    EXPECT(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT, "MPI_Type_contiguous", "");
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    if (MPI_Type_contiguous(-1, MPI_INT, &type) != MPI_ERR_COUNT || seen_code != MPI_ERR_COUNT ||
        seen_comm != MPI_COMM_WORLD) {
        printf("an error without an object did not go to MPI_COMM_WORLD\n");
        ++wrong;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
    seen_code = 0;
    seen_comm = MPI_COMM_NULL;
}

/* The error of a request goes to the handler of its communicator, not to the one for errors without object.
 */
static void request_handler(void) {
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int out[2] = {1, 2}, in = 0, code;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Irecv(&in, 1, MPI_INT, 0, 5, copy, &requests[0]);
    MPI_Isend(out, 2, MPI_INT, 0, 5, copy, &requests[1]);
    code = MPI_Waitall(2, requests, statuses);
    if (code != MPI_ERR_IN_STATUS || statuses[0].MPI_ERROR != MPI_ERR_TRUNCATE ||
        statuses[1].MPI_ERROR != MPI_SUCCESS || requests[0] != MPI_REQUEST_NULL) {
        printf("MPI_Waitall gave %d, the statuses %d and %d\n", code, statuses[0].MPI_ERROR,
               statuses[1].MPI_ERROR);
        ++wrong;
    }
    MPI_Irecv(&in, 1, MPI_INT, 0, 6, copy, &requests[0]);
    MPI_Send(out, 2, MPI_INT, 0, 6, copy);
    EXPECT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Wait", "");
    MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    before_a_handler_on_self();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    point_to_point();
    collectives();
    others();
    custom_handler();
    request_handler();
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
