// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs connected by a port. Without arguments: two halves of one job; with "serve NAME" or
// "call NAME": two jobs that find each other by a service name (ports.py).
#include "check.hpp"

namespace {

void use_connection(MPI_Comm inter, bool serves) {
    int remote = 0;
    MPI_Comm_remote_size(inter, &remote);
    int own = 0;
    MPI_Comm_rank(inter, &own);
    int got = -1;
    if (own < remote) {
        int size = 0;
        MPI_Comm_size(inter, &size);
        if (own < size && own < remote)
            CHECK(MPI_Sendrecv(&own, 1, MPI_INT, own, 1, &got, 1, MPI_INT, own, 1, inter,
                               MPI_STATUS_IGNORE) == MPI_SUCCESS &&
                  got == own);
    }
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Intercomm_merge(inter, serves ? 0 : 1, &merged);
    int rank = 0;
    MPI_Comm_rank(merged, &rank);
    CHECK((rank == own) == serves);
    int highest = -1;
    MPI_Allreduce(&rank, &highest, 1, MPI_INT, MPI_MAX, merged);
    int size = 0;
    MPI_Comm_size(merged, &size);
    CHECK(highest == size - 1);
    MPI_Comm_disconnect(&merged); // MPI_Comm_free would leave the jobs connected
}

void serve(const char* service, int callers) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank_ == 0) {
        CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(MPI_Publish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
        FAILS(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    }
    for (int i = 0; i < callers; ++i) {
        MPI_Comm inter = MPI_COMM_NULL;
        CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
        use_connection(inter, true);
        MPI_Comm_disconnect(&inter);
    }
    if (rank_ != 0) return;
    CHECK(MPI_Unpublish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
    FAILS(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK(MPI_Close_port(port) == MPI_SUCCESS);
    FAILS(MPI_Close_port(port), MPI_ERR_PORT);
}

void connect_to_service(const char* service) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank_ == 0)
        while (class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)) == MPI_ERR_NAME) {
        }
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    use_connection(inter, false);
    MPI_Comm_disconnect(&inter);
}

// Two halves of one job, twice: after a disconnect they can connect again.
void connect_halves() {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, rank_, &half);
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank_ == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
        MPI_Comm inter = MPI_COMM_NULL;
        if (rank_ % 2 == 0)
            CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter) == MPI_SUCCESS);
        else
            CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter) == MPI_SUCCESS);
        use_connection(inter, rank_ % 2 == 0);
        MPI_Comm_disconnect(&inter);
    }
    if (rank_ == 0) MPI_Close_port(port);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm inter = MPI_COMM_NULL;
    FAILS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter), MPI_ERR_PORT);
    FAILS(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, half, &inter), MPI_ERR_PORT);
    FAILS(MPI_Lookup_name("unpublished name", MPI_INFO_NULL, port), MPI_ERR_NAME);
    MPI_Comm_free(&half);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    if (argc == 4 && std::strcmp(argv[1], "serve") == 0)
        serve(argv[2], std::atoi(argv[3]));
    else if (argc == 3)
        connect_to_service(argv[2]);
    else
        connect_halves();
    session.end("ports");
    return 0;
}
