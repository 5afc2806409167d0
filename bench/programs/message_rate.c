// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of 8 bytes per second, in millions, of all pairs together: rank i of the lower half sends windows
// of 64 to rank i + half. With two ranks this is the message rate, with more the multi-pair rate; then the
// mean half round trip of concurrent ping-pongs of all pairs is also reported.
#include "bench.h"

enum { message = 8 };

static double slowest(double took) {
    double most = took;
    MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

static double stream(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    MPI_Request requests[window];
    char buffers[window][message];
    const int half = bench->ranks / 2, sends = bench->rank < half;
    const int peer = sends ? bench->rank + half : bench->rank - half;
    for (int i = 0; i < window; ++i) mark(buffers[i], message, sends ? (char)(stamp + i) : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long n = 0; n < iterations; ++n) {
        for (int i = 0; i < window; ++i) {
            if (sends)
                MPI_Isend(buffers[i], (int)point->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(buffers[i], (int)point->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (sends)
            MPI_Recv(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - begin;
    for (int i = 0; i < window; ++i) check(buffers[i], message, (char)(stamp + i));
    return slowest(took);
}

static double pairs_ping_pong(const struct bench* bench, const struct point* point, long iterations,
                              char stamp) {
    char out[message] = {stamp, 0, 0, 0, 0, 0, 0, stamp}, in[message] = {0};
    const int half = bench->ranks / 2, first = bench->rank < half;
    const int peer = first ? bench->rank + half : bench->rank - half, bytes = (int)point->size;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; ++i) {
        if (first) MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!first) MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - begin;
    check(in, message, stamp);
    return slowest(took);
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    if (bench.ranks % 2) fail("an even number of ranks is needed");
    add_point(&bench, "message_rate", message);
    measure(&bench, stream);
    const double messages = (double)window * bench.ranks / 2;
    if (bench.rank == 0)
        report("message_rate", message, messages / bench.point[0].per_iteration[0] / 1e6, "M/s");
    if (bench.ranks > 2) {
        measure(&bench, pairs_ping_pong);
        if (bench.rank == 0) report("multi_pair", message, bench.point[0].per_iteration[0] / 2 * 1e6, "us");
    }
    MPI_Finalize();
    return 0;
}
