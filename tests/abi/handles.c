/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles as integers, statuses, attributes, texts: the work of the ABI binding.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong = 0;
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("line %d: %s\n", __LINE__, #condition);                                                   \
            ++wrong;                                                                                         \
        }                                                                                                    \
    } while (0)

static void integers(void) {
    MPI_Comm copy, stale;
    int number;
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
    CHECK(MPI_Type_toint(MPI_INT) == 0x209 && MPI_Type_fromint(0x209) == MPI_INT);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &copy) == MPI_SUCCESS);
    number = MPI_Comm_toint(copy);
    CHECK(number >= 4096 && MPI_Comm_fromint(number) == copy && MPI_Comm_toint(copy) == number);
    CHECK(MPI_Comm_fromint(1 << 30) == MPI_COMM_NULL);
    stale = copy;
    CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS && copy == MPI_COMM_NULL);
    CHECK(MPI_Comm_size(stale, &number) == MPI_ERR_COMM);
}

static void statuses(void) {
    MPI_Status s;
    int n = -1;
    MPI_Count wide = -1;
    memset(&s, 0, sizeof s);
    CHECK(MPI_Status_set_source(&s, 3) == MPI_SUCCESS && s.MPI_SOURCE == 3);
    CHECK(MPI_Status_set_tag(&s, 4) == MPI_SUCCESS && MPI_Status_get_tag(&s, &n) == MPI_SUCCESS && n == 4);
    CHECK(MPI_Status_set_error(&s, 15) == MPI_SUCCESS && MPI_Status_get_error(&s, &n) == MPI_SUCCESS &&
          n == 15);
    CHECK(MPI_Status_set_cancelled(&s, 1) == MPI_SUCCESS && MPI_Test_cancelled(&s, &n) == MPI_SUCCESS &&
          n == 1);
    CHECK(MPI_Status_set_elements(&s, MPI_INT, 12) == MPI_SUCCESS &&
          MPI_Get_count(&s, MPI_INT, &n) == MPI_SUCCESS);
    CHECK(n == 12 && MPI_Get_count_c(&s, MPI_INT, &wide) == MPI_SUCCESS && wide == 12);
    CHECK(MPI_Status_set_elements_c(&s, MPI_INT, (MPI_Count)3 << 30) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&s, MPI_INT, &n) == MPI_SUCCESS && n == MPI_UNDEFINED);
}

/* More requests than fit on the stack. Null requests complete with an empty status, whose error is
 * MPI_SUCCESS. */
static void arrays(void) {
    enum { n = 40 };
    MPI_Request requests[n];
    MPI_Status statuses[n];
    int i, count = -1, empty = 0;
    for (i = 0; i < n; ++i) {
        requests[i] = MPI_REQUEST_NULL;
        statuses[i].MPI_ERROR = 77;
    }
    CHECK(MPI_Waitall(n, requests, statuses) == MPI_SUCCESS);
    for (i = 0; i < n; ++i) {
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        empty += statuses[i].MPI_SOURCE == MPI_ANY_SOURCE && statuses[i].MPI_TAG == MPI_ANY_TAG &&
                 count == 0 && statuses[i].MPI_ERROR == MPI_SUCCESS && requests[i] == MPI_REQUEST_NULL;
    }
    CHECK(empty == n);
    CHECK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Waitany(n, requests, &i, statuses) == MPI_SUCCESS && i == MPI_UNDEFINED);
    statuses[0].MPI_ERROR = 77;
    CHECK(MPI_Wait(&requests[0], &statuses[0]) == MPI_SUCCESS && statuses[0].MPI_ERROR == MPI_SUCCESS);
}

static void others(void) {
    int *upper = NULL, flag = 0, major = 0, minor = -1, length = -1, result = 0;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Errhandler h;
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag) == MPI_SUCCESS && flag &&
          *upper >= 32767);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
    CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS && length == (int)strlen(name));
    CHECK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result) == MPI_SUCCESS && result == MPI_IDENT);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &h) == MPI_SUCCESS && h == MPI_ERRORS_RETURN);
    CHECK(MPI_Aint_diff(MPI_Aint_add(100, 23), 100) == 23);
    CHECK(MPI_Pcontrol(1, "any", 2) == MPI_SUCCESS);
    CHECK(MPI_Wtime() > 0);
}

int main(int argc, char** argv) {
    int flag = 1;
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF,
                            MPI_ERRORS_RETURN); /* the fallback handler for errors without object */
    integers();
    statuses();
    arrays();
    others();
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
