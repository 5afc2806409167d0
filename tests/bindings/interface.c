/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: interface, with 2 ranks
 * Compiled with the header of another MPI library and run on the library for its ABI: everything whose
 * encoding differs between ABIs. Prints "ok" from rank 0. */
#include "check.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI /* its header hides what MPI-3 removed */
#undef MPI_LB
#undef MPI_UB
#undef MPI_Type_struct
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB ((MPI_Datatype)&ompi_mpi_lb)
#define MPI_UB ((MPI_Datatype)&ompi_mpi_ub)
#endif
int MPI_Type_struct(int, int*, MPI_Aint*, MPI_Datatype*, MPI_Datatype*);

static int rank, size;

/* Special ranks and tags, status fields and counts. */
static void messages(void) {
    const int peer = 1 - rank;
    double value = rank + 0.5, got[2] = {0, 0};
    int count = 0, flag = 0;
    MPI_Status status, statuses[2];
    MPI_Request requests[2];
    MPI_Irecv(got, 2, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &requests[1]);
    statuses[0].MPI_ERROR = 77;
    MPI_Waitall(2, requests, statuses);
    CHECK(got[0] == peer + 0.5 && statuses[0].MPI_SOURCE == peer && statuses[0].MPI_TAG == 9);
    CHECK(statuses[0].MPI_ERROR == 77); /* unchanged */
    MPI_Get_count(&statuses[0], MPI_DOUBLE, &count);
    CHECK(count == 1);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    statuses[1].MPI_TAG = 78;
    MPI_Irecv(got, 1, MPI_DOUBLE, peer, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Testall(2, requests, &flag, statuses);
    CHECK(!flag && statuses[0].MPI_ERROR == 77 && statuses[0].MPI_TAG == 9 && statuses[1].MPI_TAG == 78);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_DOUBLE, peer, 10, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    MPI_Send(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG &&
          status.MPI_ERROR == MPI_SUCCESS);

    MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)5 << 32);
    MPI_Count large = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &large);
    CHECK(large == (MPI_Count)5 << 32);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    MPI_Get_elements_x(&status, MPI_BYTE, &large);
    CHECK(flag && large == (MPI_Count)5 << 32);

    MPI_Message message;
    MPI_Isend(&value, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(peer, 3, MPI_COMM_WORLD, &message, &status);
    CHECK(message != MPI_MESSAGE_NULL);
    MPI_Mrecv(got, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(got, 0, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
}

/* The space per message that this ABI guarantees suffices. */
static void buffered_sends(void) {
    char buffer[2 * (sizeof(int) + MPI_BSEND_OVERHEAD)];
    int values[2] = {1, 2}, got = 0, left = 0;
    void* detached = NULL;
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < 2; ++i) MPI_Bsend(&values[i], 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
        MPI_Recv(&got, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == values[i]);
    }
    MPI_Buffer_detach(&detached, &left);
    CHECK(detached == buffer && left == (int)sizeof buffer);
}

static void user_sum(void* in, void* inout, int* length, MPI_Datatype* type) {
    if (*type != MPI_INT) abort();
    for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void collectives(void) {
    int value = rank + 1, sum = 0, all[2] = {0, 0};
    MPI_Op op;
    MPI_Op_create(user_sum, 1, &op);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == 3);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    CHECK(value == 2);
    all[rank] = rank + 5;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[0] == 5 && all[1] == 6);
    struct {
        double value;
        int at;
    } in = {rank == 1 ? 9.5 : 1.5, rank}, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(out.value == 9.5 && out.at == 1);
}

static int copies, deletions;
static int copy_attribute(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
    CHECK(comm == MPI_COMM_WORLD && key != MPI_KEYVAL_INVALID && state == &copies);
    ++copies;
    *(void**)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* state) {
    CHECK(comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID && value == &size && state == &copies);
    ++deletions;
    return MPI_SUCCESS;
}

static void communicators(void) {
    int result = -1, flag = 0, key = MPI_KEYVAL_INVALID, low = 0, high = 0, dims[1] = {2}, periods[1] = {0};
    int ranks[2] = {0, MPI_PROC_NULL}, translated[2] = {7, 7};
    int* tag_limit = NULL;
    void* value = NULL;
    MPI_Comm made, grid, part;
    MPI_Group group;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, &copies);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_get_attr(made, key, &value, &flag);
    CHECK(flag && value == &size && copies == 1);
    MPI_Comm_compare(made, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_free(&made);
    CHECK(made == MPI_COMM_NULL && deletions == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &size);
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    MPI_Comm_get_attr(made, key, &value, &flag);
    CHECK(flag && value == &size);
    MPI_Comm_free(&made);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_limit, &flag);
    CHECK(flag && *tag_limit >= 32767);
    int* rank_value = NULL;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &rank_value, &flag);
    CHECK(flag && *rank_value == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &rank_value, &flag);
    CHECK(flag && *rank_value == MPI_PROC_NULL);

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &result);
    CHECK(result == MPI_CART);
    MPI_Cart_shift(grid, 0, 1, &low, &high);
    CHECK(low == (rank == 0 ? MPI_PROC_NULL : 0) && high == (rank == 1 ? MPI_PROC_NULL : 1));
    MPI_Comm_free(&grid);
    MPI_Topo_test(MPI_COMM_WORLD, &result);
    CHECK(result == MPI_UNDEFINED);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 1 : MPI_UNDEFINED, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (rank == 1));
    if (rank == 0) MPI_Comm_free(&part);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    MPI_Comm_size(part, &result);
    CHECK(result == 2);
    MPI_Comm_free(&part);

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_translate_ranks(group, 2, ranks, group, translated);
    CHECK(translated[0] == 0 && translated[1] == MPI_PROC_NULL);
    MPI_Group_free(&group);
    CHECK(group == MPI_GROUP_NULL);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
}

static void datatypes(void) {
    int sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2}, integers[16], n[4], combiner = -1;
    int distributions[1] = {MPI_DISTRIBUTE_CYCLIC}, arguments[1] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[1] = {2};
    MPI_Aint addresses[1];
    MPI_Datatype type, inner, types[2] = {MPI_INT, MPI_CHAR};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
    CHECK(combiner == MPI_COMBINER_SUBARRAY && n[0] == 8);
    MPI_Type_get_contents(type, n[0], n[1], n[2], integers, addresses, &inner);
    CHECK(inner == MPI_INT && integers[7] == MPI_ORDER_FORTRAN);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
    MPI_Type_create_darray(2, rank, 1, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
    MPI_Type_get_contents(type, n[0], n[1], n[2], integers, addresses, &inner);
    CHECK(combiner == MPI_COMBINER_DARRAY && integers[4] == MPI_DISTRIBUTE_CYCLIC);
    CHECK(integers[5] == MPI_DISTRIBUTE_DFLT_DARG && integers[7] == MPI_ORDER_C);
    MPI_Type_free(&type);
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {0, 4};
    MPI_Type_create_struct(2, lengths, at, types, &type);
    MPI_Type_size(type, &n[0]);
    CHECK(n[0] == 5);
    MPI_Type_free(&type);
    MPI_Type_get_envelope(MPI_DOUBLE, &n[0], &n[1], &n[2], &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED);
}

/* Markers of MPI-1 set one bound of a structure each, also of one that contains it. */
static void check_bounds(int n, MPI_Aint* at, MPI_Datatype* types, MPI_Aint lower, MPI_Aint upper) {
    int lengths[4] = {1, 1, 1, 1};
    MPI_Aint begin = 0, extent = 0;
    MPI_Datatype type;
    MPI_Type_struct(n, lengths, at, types, &type);
    MPI_Type_get_extent(type, &begin, &extent);
    CHECK(begin == lower && begin + extent == upper);
    MPI_Type_free(&type);
}
static void markers(void) {
    int lengths[4] = {1, 1, 1, 1}, n[3] = {0, 0, 0}, combiner = -1, integers[5], count = 0;
    MPI_Aint at[4] = {-8, 0, 8, 32}, lower = 0, extent = 0, addresses[4];
    MPI_Datatype types[4] = {MPI_LB, MPI_INT, MPI_DOUBLE, MPI_UB}, type, outer, parts[4];
    MPI_Type_create_struct(4, lengths, at, types, &type);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == -8 && extent == 40);
    MPI_Type_get_true_extent(type, &lower, &extent);
    CHECK(lower == 0 && extent == 16);
    MPI_Type_size(type, &n[0]);
    CHECK(n[0] == 12);
    MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
    MPI_Type_get_contents(type, n[0], n[1], n[2], integers, addresses, parts);
    CHECK(combiner == MPI_COMBINER_STRUCT && integers[0] == 4 && parts[0] == MPI_LB && parts[3] == MPI_UB);
    MPI_Type_contiguous(2, type, &outer);
    MPI_Type_get_extent(outer, &lower, &extent);
    CHECK(lower == -8 && extent == 80);
    MPI_Type_free(&outer);
    struct {
        char before[8];
        int i;
        double d;
        char after[16];
    } sent[2] = {{"", 1 + rank, 0.5, ""}, {"", 2 + rank, 1.5, ""}}, got[2];
    MPI_Status status;
    MPI_Type_commit(&type);
    memset(got, 0, sizeof got);
    MPI_Sendrecv(&sent[0].i, 2, type, 1 - rank, 5, &got[0].i, 2, type, 1 - rank, 5, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, type, &count);
    CHECK(count == 4 && got[0].i == 2 - rank && got[1].i == 3 - rank && got[1].d == 1.5);
    MPI_Type_free(&type);
    check_bounds(4, (MPI_Aint[4]){4, 0, 8, 12}, types, 4, 12); /* within the data */
    check_bounds(2, at, types, -8, 4);                         /* only the lower bound */
    check_bounds(2, (MPI_Aint[2]){100, 0}, types, 100, 4);
    check_bounds(2, &at[2], &types[2], 8, 32); /* only the upper bound */
    check_bounds(2, (MPI_Aint[2]){8, -4}, &types[2], 8, -4);
}

static int handled;
static void handle_error(MPI_Comm* comm, int* code, ...) {
    int error_class = 0;
    MPI_Error_class(*code, &error_class);
    CHECK(*comm == MPI_COMM_WORLD && error_class == MPI_ERR_RANK);
    ++handled;
}

static void errors(void) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, error_class = 0, added = 0;
    MPI_Errhandler handler, current;
    MPI_Comm_create_errhandler(handle_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Send(text, 0, MPI_CHAR, 99, 0, MPI_COMM_WORLD) != MPI_SUCCESS && handled == 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &current);
    CHECK(current == MPI_ERRORS_RETURN);
    const int code = MPI_Send(text, 0, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_TYPE);
    MPI_Error_string(code, text, &length);
    CHECK(length > 0 && length < MPI_MAX_ERROR_STRING && strlen(text) == (size_t)length);
    MPI_Add_error_class(&added);
    CHECK(added > MPI_ERR_LASTCODE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void windows_and_files(const char* path) {
    int *base = NULL, value = rank + 10, flag = 0, *flavor = NULL, *model = NULL, mode = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, win);
    CHECK(*base == 1 - rank + 10);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, win);
    MPI_Accumulate(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock(1 - rank, win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);

    MPI_File file;
    MPI_Offset at = 0;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_get_amode(file, &mode);
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    MPI_File_write_at_all(file, (MPI_Offset)rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 4, MPI_SEEK_SET);
    MPI_File_get_position(file, &at);
    CHECK(at == 4);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
}

static int query(void* state, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_INT, *(int*)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}
static int release(void* state) {
    *(int*)state = -1;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized_requests(void) {
    int state = 3, count = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &state, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && status.MPI_TAG == 6 && state == -1 && request == MPI_REQUEST_NULL);
}

static void tool_interface(void) {
    int provided = -1, count = 0, verbosity = -1, bind = -1, scope = -1, length = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_cvar_get_num(&count) == MPI_SUCCESS && count > 0);
    CHECK(MPI_T_cvar_get_info(0, NULL, &length, &verbosity, &type, &names, NULL, NULL, &bind, &scope) ==
          MPI_SUCCESS);
    CHECK(type != MPI_DATATYPE_NULL && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
          MPI_T_ERR_INVALID_INDEX);
    MPI_T_finalize();
}

int main(int argc, char** argv) {
    int provided = -1, length = 0, version = 0, subversion = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 2 && provided == MPI_THREAD_MULTIPLE && argc == 2);
    MPI_Get_library_version(text, &length);
    CHECK(strstr(text, "ZipMPI") != NULL);
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    messages();
    buffered_sends();
    collectives();
    communicators();
    datatypes();
    markers();
    errors();
    windows_and_files(argv[1]);
    generalized_requests();
    tool_interface();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) printf("ok\n");
    return 0;
}
