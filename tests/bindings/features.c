/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: features PATH, with 2 ranks
 * Compiled with the header of another MPI library and run on the library for its ABI: spawned processes,
 * ports, data representations and sessions. Prints "ok" from rank 0. */
#include "check.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

/* Both sides use handles, special ranks and codes of this ABI. */
static void spawned(MPI_Comm parent, char** argv) {
    int value = 0, size = 0;
    CHECK(strcmp(argv[1], "child") == 0 && strcmp(argv[2], "two words") == 0 && argv[3] == NULL);
    MPI_Comm_remote_size(parent, &size);
    CHECK(size == 2);
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    CHECK(value == 42);
    value += rank;
    MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Comm_disconnect(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

static void spawn(char* program) {
    char* arguments[] = {"child", "two words", NULL};
    int codes[2] = {77, 77}, value = 42, sum = 0, flag = 0;
    const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm children;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", "/");
    MPI_Comm_spawn(program, arguments, 2, info, 0, MPI_COMM_WORLD, &children, codes);
    MPI_Info_free(&info);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && info == MPI_INFO_NULL);
    MPI_Comm_test_inter(children, &flag);
    CHECK(flag);
    MPI_Bcast(&value, 1, MPI_INT, root, children);
    MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, root, children);
    CHECK(rank != 0 || sum == 42 + 43);
    MPI_Comm_disconnect(&children);
}

/* The name of a port fits into the string that this ABI provides for it. */
static void ports(void) {
    char name[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
    int value = 7 + rank, got = 0;
    MPI_Comm other;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, name);
        CHECK(strlen(name) > 0);
        MPI_Publish_name("features", MPI_INFO_NULL, name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Lookup_name("features", MPI_INFO_NULL, found);
    CHECK(rank != 0 || strcmp(name, found) == 0);
    if (rank == 0)
        MPI_Comm_accept(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else
        MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE);
    CHECK(got == 8 - rank);
    MPI_Comm_disconnect(&other);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Unpublish_name("features", MPI_INFO_NULL, name);
        MPI_Close_port(name);
    }
}

/* A representation that stores integers in the opposite byte order. */
static int state;
static void swap(const char* from, char* to, int count) {
    for (int i = 0; i < count * 4; ++i) to[i] = from[i / 4 * 4 + 3 - i % 4];
}
static int extent(MPI_Datatype type, MPI_Aint* bytes, void* extra) {
    CHECK(type == MPI_INT && extra == &state);
    *bytes = 4;
    return MPI_SUCCESS;
}
static int read_swapped(void* user, MPI_Datatype type, int count, void* file, MPI_Offset at, void* extra) {
    CHECK(type == MPI_INT && extra == &state);
    swap(file, (char*)user + at * 4, count);
    return MPI_SUCCESS;
}
static int write_swapped(void* user, MPI_Datatype type, int count, void* file, MPI_Offset at, void* extra) {
    CHECK(type == MPI_INT && extra == &state);
    swap((char*)user + at * 4, file, count);
    return MPI_SUCCESS;
}

static void representations(const char* path) {
    MPI_File file;
    int values[2] = {0x01020304, rank}, read[2] = {0, 0};
    char bytes[4], name[MPI_MAX_DATAREP_STRING];
    MPI_Datatype element, type;
    MPI_Offset displacement = -1;
    CHECK(MPI_Register_datarep("swapped", read_swapped, write_swapped, extent, &state) == MPI_SUCCESS);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "swapped", MPI_INFO_NULL);
    MPI_File_get_view(file, &displacement, &element, &type, name);
    CHECK(displacement == 0 && element == MPI_INT && strcmp(name, "swapped") == 0);
    MPI_File_write_at(file, 0, values, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, read, 2, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(read[0] == values[0] && read[1] == rank);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(bytes[0] == 1 && bytes[3] == 4);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, read, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(read[0] == 0x01020304);
    MPI_File_close(&file);
}

/* Looked up by name: Open MPI 4 does not declare them. */
static void sessions(void) {
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
    typedef struct ompi_instance_t* MPI_Session;
#endif
    int (*init)(MPI_Info, MPI_Errhandler, MPI_Session*) = dlsym(RTLD_DEFAULT, "MPI_Session_init");
    int (*finalize)(MPI_Session*) = dlsym(RTLD_DEFAULT, "MPI_Session_finalize");
    int (*from_set)(MPI_Session, const char*, MPI_Group*) =
        dlsym(RTLD_DEFAULT, "MPI_Group_from_session_pset");
    int (*create)(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*) =
        dlsym(RTLD_DEFAULT, "MPI_Comm_create_from_group");
    CHECK(init != NULL && finalize != NULL && from_set != NULL && create != NULL);
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int size = 0, sum = 0;
    CHECK(init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(from_set(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    MPI_Group_size(group, &size);
    CHECK(size == 2);
    CHECK(create(group, "features", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == 4);
    MPI_Comm_free(&comm);
#ifdef OPEN_MPI
    int (*set_info)(MPI_Session, MPI_Info) = dlsym(RTLD_DEFAULT, "MPI_Session_set_info"); /* of version 5 */
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(set_info != NULL && set_info(session, info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(set_info(session, info) == MPI_ERR_INFO);
#endif
    MPI_Group_free(&group);
    CHECK(group == MPI_GROUP_NULL && finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    MPI_Comm parent;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        spawned(parent, argv);
        MPI_Finalize();
        return 0;
    }
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    representations(path);
    sessions();
    ports();
    spawn(argv[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) printf("ok\n");
    return 0;
}
