// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Nanoseconds per match with long queues: rank 1 sends as many short messages as the depth (the size column),
// each with a different tag; rank 0 has posted its receives before (posted_*), or receives after all have
// arrived (unexpected_*): in sending order, in reverse order, in reverse order with MPI_ANY_SOURCE in every
// second receive, and, for unexpected ones, in sending order with MPI_ANY_TAG. The time should not depend on
// the depth. Options: depths=10,1000,100000, only= one of the names.
#include "bench.h"

enum { max_depth = 1 << 20 };
enum order { in_order, reverse, any_source, any_tag };
static MPI_Request requests[max_depth];
static int values[max_depth];

static const struct {
    const char* name;
    int posted;
    enum order order;
} cases[] = {{"posted_in_order", 1, in_order},     {"posted_reverse", 1, reverse},
             {"posted_any_source", 1, any_source}, {"unexpected_in_order", 0, in_order},
             {"unexpected_reverse", 0, reverse},   {"unexpected_any_source", 0, any_source},
             {"unexpected_any_tag", 0, any_tag}};
enum { case_count = sizeof cases / sizeof *cases, end_tag = max_depth };

// The tag of the i-th receive.
static int tag_of(enum order order, int i, int depth) {
    return order == reverse || order == any_source ? depth - 1 - i : i;
}

static int source_of(enum order order, int i) { return order == any_source && i % 2 ? MPI_ANY_SOURCE : 1; }

static void post_all(enum order order, int depth) {
    for (int i = 0; i < depth; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, source_of(order, i), tag_of(order, i, depth), MPI_COMM_WORLD,
                  &requests[i]);
}

static void receive_all(enum order order, int depth) {
    for (int i = 0; i < depth; ++i)
        MPI_Recv(&values[i], 1, MPI_INT, source_of(order, i),
                 order == any_tag ? MPI_ANY_TAG : tag_of(order, i, depth), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void check_all(enum order order, int depth) {
    for (int i = 0; i < depth; ++i)
        if (values[i] != tag_of(order, i, depth)) fail("a message matched the wrong receive");
}

static void send_all(int depth) {
    for (int i = 0; i < depth; ++i) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_INT, 0, end_tag, MPI_COMM_WORLD);
}

static void wait_for_end(void) { MPI_Recv(NULL, 0, MPI_INT, 1, end_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static double batch(const struct bench* bench, const struct point* point, long iterations, char stamp) {
    (void)stamp;
    int which = 0;
    while (strcmp(cases[which].name, point->name)) ++which;
    const enum order order = cases[which].order;
    const int depth = (int)point->size;
    double took = 0;
    for (long i = 0; i < iterations; ++i) {
        if (bench->rank == 0 && cases[which].posted) post_all(order, depth);
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench->rank == 1) send_all(depth);
        if (bench->rank != 0) continue;
        if (!cases[which].posted) wait_for_end();
        const double begin = MPI_Wtime();
        if (cases[which].posted)
            MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
        else
            receive_all(order, depth);
        took += MPI_Wtime() - begin;
        if (cases[which].posted) wait_for_end();
        check_all(order, depth);
    }
    return took;
}

static int depths_of(int argc, char** argv, size_t* depths) {
    int count = 0;
    const char* list = text_option(argc, argv, "depths", "10,1000,100000");
    for (char* end; *list && count < 8; list = *end ? end + 1 : end) {
        depths[count] = strtoul(list, &end, 10);
        if (end == list || depths[count] < 1 || depths[count] > max_depth)
            fail("depths= must be numbers up to 1048576");
        ++count;
    }
    return count;
}

int main(int argc, char** argv) {
    struct bench bench = begin_bench(&argc, &argv);
    if (bench.ranks != 2) fail("matching is measured between two ranks");
    const char* only = text_option(argc, argv, "only", "");
    size_t depths[8];
    const int count = depths_of(argc, argv, depths);
    for (int i = 0; i < case_count; ++i)
        for (int k = 0; k < count; ++k)
            if (!*only || !strcmp(only, cases[i].name)) add_point(&bench, cases[i].name, depths[k]);
    measure(&bench, batch);
    for (int i = 0; i < bench.points && bench.rank == 0; ++i)
        report(bench.point[i].name, bench.point[i].size,
               bench.point[i].per_iteration[0] / (double)bench.point[i].size * 1e9, "ns");
    MPI_Finalize();
    return 0;
}
