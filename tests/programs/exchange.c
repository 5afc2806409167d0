// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The test that must pass under every launcher with any number of ranks: ring, wildcards, 64 MiB messages,
// 10^5 small messages checked byte by byte, and all collectives. Uses only mpi.h, so any MPI can run it.
// Arguments: small=COUNT large=BYTES to make it shorter. Prints "exchange: ok, N ranks" on rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void check_at(int ok, const char* what, int line) {
    if (ok) return;
    fprintf(stderr, "exchange: rank %d: check failed at line %d: %s\n", rank, line, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}
#define CHECK(condition) check_at((condition) != 0, #condition, __LINE__)

static unsigned char byte_at(size_t i, unsigned seed) {
    return (unsigned char)(i * 131 + (i >> 8) * 7 + seed * 29 + 1);
}

static void fill(unsigned char* p, size_t n, unsigned seed) {
    for (size_t i = 0; i < n; ++i) p[i] = byte_at(i, seed);
}

static int same(const unsigned char* p, size_t n, unsigned seed) {
    for (size_t i = 0; i < n; ++i)
        if (p[i] != byte_at(i, seed)) return 0;
    return 1;
}

static void ring(void) {
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int token = -1;
    MPI_Status status;
    if (rank == 0) {
        token = 1000;
        MPI_Request request;
        MPI_Isend(&token, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &request);
        int back = 0;
        MPI_Recv(&back, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(back == 1000 + size - 1);
    } else {
        MPI_Recv(&token, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, &status);
        ++token;
        MPI_Send(&token, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    }
    CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == 7);
}

static void wildcards(void) {
    enum { each = 50 };
    if (rank != 0) {
        for (int i = 0; i < each; ++i) {
            const int value[2] = {rank, i};
            MPI_Send(value, 2, MPI_INT, 0, 100 + i % 3, MPI_COMM_WORLD);
        }
    } else {
        int* seen = calloc((size_t)size, sizeof *seen);
        for (int k = 0; k < each * (size - 1); ++k) {
            int value[2], count;
            MPI_Status probed, status;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &probed);
            MPI_Get_count(&probed, MPI_INT, &count);
            CHECK(count == 2);
            MPI_Recv(value, 2, MPI_INT, probed.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(value[0] == status.MPI_SOURCE && value[1] == seen[value[0]]);
            CHECK(status.MPI_TAG == 100 + value[1] % 3 && status.MPI_TAG == probed.MPI_TAG);
            ++seen[value[0]];
        }
        free(seen);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void small_messages(int count) {
    const int partner = rank ^ 1;
    if (partner < size) {
        unsigned char out[64], in[64];
        for (int i = 0; i < count; ++i) {
            const int n = i % 61;
            MPI_Status status;
            int got;
            fill(out, (size_t)n, (unsigned)(i + rank));
            memset(in, 0, sizeof in);
            if (i % 2 == 0) {
                MPI_Sendrecv(out, n, MPI_BYTE, partner, i % 1000, in, 64, MPI_BYTE, partner, i % 1000,
                             MPI_COMM_WORLD, &status);
            } else {
                MPI_Request requests[2];
                MPI_Status statuses[2];
                MPI_Irecv(in, 64, MPI_BYTE, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
                MPI_Isend(out, n, MPI_BYTE, partner, i % 1000, MPI_COMM_WORLD, &requests[1]);
                MPI_Waitall(2, requests, statuses);
                CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
                status = statuses[0];
            }
            MPI_Get_count(&status, MPI_BYTE, &got);
            CHECK(got == n && status.MPI_TAG == i % 1000);
            CHECK(same(in, (size_t)n, (unsigned)(i + partner)));
            CHECK(in[n] == 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void large_messages(size_t bytes) {
    // one pair at a time bounds memory for any number of ranks
    unsigned char* data = malloc(bytes);
    CHECK(data != NULL);
    for (int first = 0; first + 1 < size; first += 2) {
        if (rank == first) {
            fill(data, bytes, 5);
            MPI_Send(data, (int)bytes, MPI_BYTE, first + 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, (int)bytes, MPI_BYTE, first + 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(same(data, bytes, 6));
        } else if (rank == first + 1) {
            MPI_Status status;
            int got;
            MPI_Recv(data, (int)bytes, MPI_BYTE, first, 1, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &got);
            CHECK((size_t)got == bytes && same(data, bytes, 5));
            fill(data, bytes, 6);
            MPI_Send(data, (int)bytes, MPI_BYTE, first, 2, MPI_COMM_WORLD);
        }
        if (first % 4 == 2) MPI_Barrier(MPI_COMM_WORLD);
    }
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void to_self(void) {
    int out = 41 + rank, in = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
    while (!flag) MPI_Test(&request, &flag, &status);
    CHECK(in == 41 + rank && status.MPI_SOURCE == rank);
    in = 0;
    MPI_Send(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    CHECK(in == 41 + rank && status.MPI_SOURCE == 0);
}

static void many_requests(void) {
    enum { depth = 40 };
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request requests[2 * depth];
    int out[depth], in[depth], done = 0, used[2 * depth] = {0};
    for (int i = 0; i < depth; ++i) {
        out[i] = rank * 1000 + i;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = depth - 1; i >= 0; --i)
        MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[depth + i]);
    while (done < 2 * depth) {
        int index, outcount, indices[2 * depth];
        if (done % 2 == 0) {
            MPI_Waitany(2 * depth, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < 2 * depth && !used[index]);
            used[index] = 1;
            ++done;
        } else {
            MPI_Waitsome(2 * depth, requests, &outcount, indices, MPI_STATUSES_IGNORE);
            for (int k = 0; k < outcount; ++k) CHECK(!used[indices[k]]++);
            done += outcount;
        }
    }
    for (int i = 0; i < depth; ++i) CHECK(in[i] == previous * 1000 + i);
    int index;
    MPI_Waitany(2 * depth, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
}

static void collectives(void) {
    enum { n = 1000 };
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    double* mine = malloc(sizeof(double) * n);
    double* all = malloc(sizeof(double) * n * (size_t)size);
    double* other = malloc(sizeof(double) * n * (size_t)size);
    for (int i = 0; i < n; ++i) mine[i] = rank + i;
    for (int root = 0; root < size; root += (size > 4 ? 3 : 1)) {
        double b = rank == root ? 2.5 : 0;
        MPI_Bcast(&b, 1, MPI_DOUBLE, root, comm);
        CHECK(b == 2.5);
        MPI_Reduce(mine, other, n, MPI_DOUBLE, MPI_SUM, root, comm);
        if (rank == root) CHECK(other[n - 1] == size * (size - 1) / 2.0 + size * (n - 1.0));
        MPI_Gather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, root, comm);
        if (rank == root)
            for (int r = 0; r < size; ++r) CHECK(all[r * n + 5] == r + 5);
        MPI_Scatter(all, n, MPI_DOUBLE, other, n, MPI_DOUBLE, root, comm);
        CHECK(other[n - 1] == rank + n - 1);
    }
    int sum = rank, maximum;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Allreduce(&rank, &maximum, 1, MPI_INT, MPI_MAX, comm);
    CHECK(maximum == size - 1);
    MPI_Allgather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, comm);
    for (int r = 0; r < size; ++r) CHECK(all[r * n + n - 1] == r + n - 1);
    for (int r = 0; r < size; ++r)
        for (int i = 0; i < n; ++i) all[r * n + i] = rank * 1e6 + r * 1e3 + i;
    MPI_Alltoall(all, n, MPI_DOUBLE, other, n, MPI_DOUBLE, comm);
    for (int r = 0; r < size; ++r) CHECK(other[r * n + 17] == r * 1e6 + rank * 1e3 + 17);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
    free(mine);
    free(all);
    free(other);
}

int main(int argc, char** argv) {
    int small = 100000;
    long large = 64L << 20;
    for (int i = 1; i < argc; ++i) {
        sscanf(argv[i], "small=%d", &small);
        sscanf(argv[i], "large=%ld", &large);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring();
    wildcards();
    to_self();
    many_requests();
    small_messages(small);
    large_messages((size_t)large);
    collectives();
    if (rank == 0) printf("exchange: ok, %d ranks\n", size);
    MPI_Finalize();
    return 0;
}
