/* SPDX-FileCopyrightText: 2026 the ZipMPI authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn_in_cluster: the ranks of each cluster spawn two children, exchange data with them, and connect to
 * another part of their cluster through a port. Meanwhile all ranks exchange data over the gateways. Each
 * rank 0 of a cluster prints one line. With an argument all ranks spawn together, over the gateways, and
 * print the class and the text of the error.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "spawn_in_cluster: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Sum of ranks over both groups, by a merged communicator. */
static void use(MPI_Comm inter, int high, int members) {
    MPI_Comm all;
    int rank, size, sum = 0;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    require(size == members && sum == size * (size - 1) / 2, "a wrong sum");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

/* Two ranks of a cluster: the first opens a port, the second connects to it. */
static void use_port(MPI_Comm cluster, int rank) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, cluster);
    if (rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (rank == 1) MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (rank < 2) use(other, rank, 2);
    if (rank == 0) MPI_Close_port(port);
}

static void spawn_over_gateways(const char* program) {
    MPI_Comm children;
    char text[MPI_MAX_ERROR_STRING] = "";
    int error_class, length, error;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error = MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                           MPI_ERRCODES_IGNORE);
    MPI_Error_class(error, &error_class);
    MPI_Error_string(error, text, &length);
    printf("%d %s\n", error_class == MPI_ERR_UNSUPPORTED_OPERATION, text);
}

int main(int argc, char** argv) {
    MPI_Comm parent, cluster, children;
    MPI_Info info;
    int rank, size, world, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int parents;
        MPI_Comm_remote_size(parent, &parents);
        use(parent, 1, parents + 2);
        MPI_Finalize();
        return 0;
    }
    if (argc > 1) {
        spawn_over_gateways(argv[0]);
        MPI_Finalize();
        return 0;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "zipmpi://cluster");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &cluster);
    MPI_Info_free(&info);
    require(cluster != MPI_COMM_NULL, "no communicator of the cluster");
    MPI_Comm_rank(cluster, &rank);
    MPI_Comm_size(cluster, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, cluster, &children, MPI_ERRCODES_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* over the gateways */
    require(sum == world / size * size * (size - 1) / 2, "a wrong sum over clusters");
    use(children, 0, size + 2);
    use_port(cluster, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("spawned by %d\n", size);
    MPI_Comm_free(&cluster);
    MPI_Finalize();
    return 0;
}
