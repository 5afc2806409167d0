// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Half of a round trip between two ranks, in microseconds, over message sizes. name= renames the result.
#include "bench.h"

static char *out, *in;

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    MPI_Barrier(MPI_COMM_WORLD);
    return bench->rank < 2 ? ping_pong(bench->rank, out, in, point->size, iterations, stamp) : 0;
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    require_ranks(&bench, 2);
    out = touched_memory(largest_message);
    in = touched_memory(largest_message);
    add_sizes(&bench, text_option(argc, argv, "name", "latency"), argc, argv);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size, bench.point[i].per_iteration[0] / 2 * 1e6, "us");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
