/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Properties of device buffers that the generated calls do not show: MPI_IN_PLACE, requests in flight at the
 * same time, messages shorter than their buffer, addresses in datatypes, queries. */
#include "memory.h"

#include <mpi-ext.h>

enum { n = 100, large = 200000 };

static int* device_ints(const int* values, int count) {
    int* const made = driver->allocate((size_t)count * sizeof(int));
    driver->copy(made, values, (size_t)count * sizeof(int));
    return made;
}

/* Whether `count` numbers of device memory are first, first + step, ... */
static int holds(const int* device, int count, int first, int step) {
    int* const found = malloc((size_t)count * sizeof(int));
    int good = 1;
    driver->copy(found, device, (size_t)count * sizeof(int));
    for (int i = 0; i < count; ++i) good = good && found[i] == first + i * step;
    free(found);
    return good;
}

static int* sequence(int count, int first, int step) {
    int* const values = malloc((size_t)count * sizeof(int));
    for (int i = 0; i < count; ++i) values[i] = first + i * step;
    int* const made = device_ints(values, count);
    free(values);
    return made;
}

static void test_messages(void) {
    subject = "messages";
    const int counts[] = {1, n, large};
    for (int i = 0; i < 3 && rank < 2; ++i) {
        int* const buffer = sequence(counts[i], rank == 0 ? 5 : 0, rank == 0 ? 3 : 0);
        if (rank == 0) CHECK(MPI_Send(buffer, counts[i], MPI_INT, 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        if (rank == 1) {
            CHECK(MPI_Recv(buffer, counts[i], MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
                  MPI_SUCCESS);
            CHECK(holds(buffer, counts[i], 5, 3));
        }
    }
}

/* The rest of the buffer keeps its content. */
static void test_short_message(void) {
    subject = "short message";
    int* const buffer = sequence(n, rank == 0 ? 1000 : 0, 1);
    MPI_Request request;
    MPI_Status status;
    int received = 0;
    if (rank == 0) MPI_Send(buffer, 10, MPI_INT, 1, 2, MPI_COMM_WORLD);
    if (rank != 1) return;
    MPI_Irecv(buffer, n, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &received);
    CHECK(received == 10 && holds(buffer, 10, 1000, 1) && holds(buffer + 10, n - 10, 10, 1));
}

/* Two receives into alternate columns: neither may overwrite the data of the other. */
static void test_columns(void) {
    subject = "columns";
    MPI_Datatype column;
    MPI_Request requests[2];
    MPI_Type_vector(n, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    int* const buffer = sequence(2 * n, rank == 0 ? 0 : -1, rank == 0 ? 1 : 0);
    for (int i = 0; i < 2 && rank == 1; ++i)
        MPI_Irecv(buffer + i, 1, column, 0, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank == 0; ++i)
        MPI_Isend(buffer + i, 1, column, 1, i, MPI_COMM_WORLD, &requests[i]);
    if (rank < 2) CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    if (rank < 2) CHECK(holds(buffer, 2 * n, 0, 1));
    MPI_Type_free(&column);
}

/* A status that shows a complete receive: its data is on the device. */
static void test_get_status(void) {
    subject = "MPI_Request_get_status";
    int* const buffer = sequence(n, rank == 0 ? 7 : 0, 1);
    MPI_Request request;
    int flag = 0;
    if (rank == 0) MPI_Send(buffer, n, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank != 1) return;
    MPI_Irecv(buffer, n, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    CHECK(holds(buffer, n, 7, 1));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_in_place(void) {
    subject = "MPI_IN_PLACE";
    const int sum = size * (size - 1) / 2;
    int* const reduced = sequence(n, rank, 0);
    CHECK(MPI_Allreduce(MPI_IN_PLACE, reduced, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(holds(reduced, n, sum, 0));
    int* const rooted = sequence(n, rank, 0);
    CHECK(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : rooted, rank == 0 ? rooted : NULL, n, MPI_INT, MPI_SUM, 0,
                     MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(holds(rooted, n, rank == 0 ? sum : rank, 0));
    int* const gathered = sequence(n * size, rank * n, 0);
    int* const own = sequence(n, rank * n, 1);
    driver->copy(gathered + rank * n, own, n * sizeof(int));
    CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered, n, MPI_INT, MPI_COMM_WORLD) ==
          MPI_SUCCESS);
    CHECK(holds(gathered, n * size, 0, 1));
    int* const blocks = sequence(n * size, 0, 1);
    CHECK(MPI_Reduce_scatter_block(MPI_IN_PLACE, blocks, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(holds(blocks, n, rank * n * size, size));
    int* const all = sequence(size, rank, 0);
    CHECK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(holds(all, size, 0, 1));
    int* const scanned = sequence(n, 1, 0);
    CHECK(MPI_Scan(MPI_IN_PLACE, scanned, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(holds(scanned, n, rank + 1, 0));
}

/* Arguments that are not significant at this rank may be anything, also device addresses. */
static void test_insignificant(void) {
    subject = "insignificant buffers";
    int* const data = sequence(n, rank, 0);
    int* const all = sequence(rank == 0 ? n * size : 1, -1, 0);
    CHECK(MPI_Gather(data, n, MPI_INT, all, rank == 0 ? n : -1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < size && rank == 0; ++i) CHECK(holds(all + i * n, n, i, 0));
    CHECK(MPI_Send(data, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(data, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(holds(data, n, rank, 0));
}

/* The root of an intercommunicator, and the other group. */
static void test_intercommunicator(void) {
    subject = "intercommunicator";
    MPI_Comm half, both;
    const int upper = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 9, &both);
    int* const data = sequence(n, rank == 0 ? 50 : 0, 1);
    const int root = upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    CHECK(MPI_Bcast(data, n, MPI_INT, root, both) == MPI_SUCCESS);
    CHECK(holds(data, n, upper || rank == 0 ? 50 : 0, 1));
    int* const sums = sequence(n, 1, 0);
    CHECK(MPI_Reduce(sums, data, n, MPI_INT, MPI_SUM, root, both) == MPI_SUCCESS);
    if (rank == 0) CHECK(holds(data, n, size - size / 2, 0));
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void test_addresses(void) {
    subject = "absolute addresses";
    int* const buffer = sequence(n, rank == 0 ? 20 : 0, 1);
    MPI_Aint address;
    MPI_Datatype type;
    MPI_Get_address(buffer, &address);
    MPI_Type_create_hindexed(1, (int[]){n}, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) CHECK(MPI_Send(MPI_BOTTOM, 1, type, 1, 4, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank == 1)
        CHECK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (rank == 1) CHECK(holds(buffer, n, 20, 1));
    MPI_Type_free(&type);
}

/* The type of a request may be freed before the request completes; so may the request itself. */
static void test_freed(void) {
    subject = "freed objects";
    MPI_Datatype pair;
    MPI_Request request;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    int* const buffer = sequence(4, rank == 0 ? 60 : -1, rank == 0 ? 1 : 0);
    int token = 0;
    if (rank == 1) MPI_Irecv(buffer, 1, pair, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Isend(buffer, 1, pair, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Type_free(&pair);
    if (rank < 2) MPI_Request_free(&request);
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    if (rank != 1) return;
    MPI_Recv(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* after the freed receive */
    CHECK(holds(buffer, 1, 60, 0) && holds(buffer + 1, 1, -1, 0) && holds(buffer + 2, 1, 62, 0));
}

/* A buffer that is only partly in device memory cannot be copied. */
static void test_mixed(void) {
    subject = "mixed memory";
    static int host[2];
    int* const on_device = sequence(2, 0, 1);
    MPI_Datatype type;
    MPI_Aint addresses[2];
    MPI_Get_address(host, &addresses[0]);
    MPI_Get_address(on_device, &addresses[1]);
    MPI_Type_create_hindexed(2, (int[]){1, 1}, addresses, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK(class_of(MPI_Send(MPI_BOTTOM, 1, type, 0, 0, MPI_COMM_SELF)) == MPI_ERR_BUFFER);
    MPI_Type_free(&type);
}

/* Host buffers are not copied. */
static void test_host_buffers(void) {
    subject = "host buffers";
    int sum = 0;
    const long copies = driver->copies();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2 && driver->copies() == copies);
}

static void test_queries(const char* library) {
    subject = "queries";
    const int cuda = strstr(library, "libcuda") != NULL;
    const int hip = strstr(library, "libamdhip64") != NULL;
    const int ze = strstr(library, "libze_loader") != NULL;
    CHECK(MPIX_Query_cuda_support() == cuda && MPIX_Query_hip_support() == hip &&
          MPIX_Query_ze_support() == ze);
    MPI_Session session;
    MPI_Info info;
    char kinds[200];
    int flag = 0, length = sizeof kinds;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_memory_alloc_kinds",
                 "system,cuda:device,rocm:device:managed,level_zero,cuda:none");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &info);
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, kinds, &flag);
    CHECK(flag);
    const char* const kind = cuda ? "cuda:device" : hip ? "rocm:device:managed" : "level_zero";
    char expected[200];
    snprintf(expected, sizeof expected, "system,%s,mpi", kind);
    if (strcmp(kinds, expected) != 0) fprintf(stderr, "kinds: %s\n", kinds);
    CHECK(strcmp(kinds, expected) == 0);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
    begin_test(argc, argv);
    test_messages();
    test_short_message();
    test_columns();
    test_get_status();
    test_in_place();
    test_insignificant();
    test_intercommunicator();
    test_addresses();
    test_freed();
    test_mixed();
    test_host_buffers();
    test_queries(argv[1]);
    if (rank == 0) printf("gpu_cases: ok\n");
    MPI_Finalize();
    return 0;
}
