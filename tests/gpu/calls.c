/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every function with buffers, from a list generated from the tables: each is called with all buffers in host
 * memory, and then with each combination of buffers in device memory. All bytes of the buffers, of windows,
 * files and messages must be equal afterwards, gaps included. */
#include "memory.h"

#include <unistd.h>

enum Kind {
    kind_collective,
    kind_send,
    kind_receive,
    kind_exchange,
    kind_matched,
    kind_partitioned,
    kind_win,
    kind_file,
    kind_local,
    kind_refused
};
enum Flags { has_request = 1, writes = 2, is_persistent = 4, predefined_only = 8 };
enum { max_buffers = 3, max_ranks = 8, partition_count = 2 };

/* The arguments of the calls. */
struct Objects {
    void* buffer[max_buffers];
    MPI_Datatype datatype, datatypes[max_ranks];
    int count, bytes, partitions, peer, source;
    int narrow_counts[max_ranks], narrow_displs[max_ranks], narrow_byte_displs[max_ranks];
    MPI_Count wide_counts[max_ranks], wide_byte_displs[max_ranks];
    MPI_Aint wide_displs[max_ranks];
    MPI_Count position;
    MPI_Offset offset;
    MPI_Comm comm, grid;
    MPI_Session session;
    MPI_Win win, made_win;
    MPI_File file;
    MPI_Message message;
    MPI_Request request;
};

struct DeviceCall {
    const char* name;
    int (*call)(struct Objects*);
    int (*end)(struct Objects*); /* of a split collective */
    enum Kind kind;
    int buffers, flags;
};

#include "device_calls.inc"

/* A datatype, a number of elements, and the bytes of buffers that hold all blocks. */
struct Shape {
    MPI_Datatype datatype;
    int count, extent, capacity;
};

/* What a call leaves behind. */
struct Result {
    char* buffer[max_buffers];
    char* other; /* the partner's message, the window or the file */
};

static struct Objects objects;
static char* host[max_buffers];
static char* device[max_buffers];
static char *window, *other;
static char path[256];
static int completions; /* so far; determines how the next one is done */

static void fill(char* bytes, int n, int seed) {
    for (int i = 0; i < n; ++i) bytes[i] = (char)((i * 7 + seed * 31) % 50);
}

/* Ranks that share a file pointer write equal data. */
static int seed_of(const struct DeviceCall* c, int buffer, int round) {
    return buffer + 3 * round + (c->kind == kind_file ? 0 : 11 * rank);
}

static void fill_buffers(const struct DeviceCall* c, const struct Shape* s, unsigned mask, int round) {
    for (int i = 0; i < c->buffers; ++i) {
        fill(host[i], s->capacity, seed_of(c, i, round));
        if (mask & 1u << i) driver->copy(device[i], host[i], (size_t)s->capacity);
    }
}

static void save_buffers(const struct DeviceCall* c, const struct Shape* s, unsigned mask,
                         struct Result* result) {
    for (int i = 0; i < c->buffers; ++i)
        driver->copy(result->buffer[i], mask & 1u << i ? device[i] : host[i], (size_t)s->capacity);
}

static void complete(MPI_Request* request) {
    int flag = 0, index = 0;
    switch (completions++ % 7) {
    case 0:
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        return;
    case 1:
        CHECK(MPI_Waitall(1, request, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        return;
    case 2:
        CHECK(MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        return;
    case 3:
        CHECK(MPI_Waitsome(1, request, &flag, &index, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        return;
    case 4:
        while (!flag) CHECK(MPI_Test(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        return;
    case 5:
        while (!flag) CHECK(MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        return;
    default:
        while (!flag) CHECK(MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
}

/* Completes a call that has returned. */
static void finish(const struct DeviceCall* c) {
    if (!(c->flags & has_request)) return;
    if (c->flags & is_persistent) CHECK(MPI_Start(&objects.request) == MPI_SUCCESS);
    complete(&objects.request);
}

static void free_request(const struct DeviceCall* c) {
    if (c->flags & is_persistent) CHECK(MPI_Request_free(&objects.request) == MPI_SUCCESS);
}

/* Calls in which only MPI moves data: twice, if they can be started again with other data. */
static void run_plain(const struct DeviceCall* c, const struct Shape* s, unsigned mask) {
    CHECK(c->call(&objects) == MPI_SUCCESS);
    finish(c);
    if (!(c->flags & is_persistent)) return;
    fill_buffers(c, s, mask, 1);
    finish(c);
    free_request(c);
}

/* A ring: each rank sends to the next one. The partner of a tested call uses host memory. */
static void run_message(const struct DeviceCall* c, const struct Shape* s, unsigned mask) {
    for (int round = 0; round < (c->flags & is_persistent ? 2 : 1); ++round) {
        MPI_Request partner = MPI_REQUEST_NULL;
        fill(other, s->capacity, 17 + round + rank);
        if (c->kind == kind_send)
            MPI_Irecv(other, s->count, s->datatype, objects.source, 7, objects.comm, &partner);
        else if (c->kind != kind_exchange)
            MPI_Isend(other, s->count, s->datatype, objects.peer, 7, objects.comm, &partner);
        MPI_Barrier(objects.comm); /* ready sends need the receive */
        if (c->kind == kind_matched)
            MPI_Mprobe(objects.source, 7, objects.comm, &objects.message, MPI_STATUS_IGNORE);
        if (round == 0)
            CHECK(c->call(&objects) == MPI_SUCCESS);
        else
            fill_buffers(c, s, mask, round);
        finish(c);
        CHECK(MPI_Wait(&partner, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    free_request(c);
}

/* Data of a send is valid when its partition is ready, and data of a receive when its partition has arrived.
 */
static void run_partitioned(const struct DeviceCall* c, const struct Shape* s, unsigned mask,
                            struct Result* result) {
    const int receives = c->flags & writes;
    MPI_Request partner;
    CHECK(c->call(&objects) == MPI_SUCCESS);
    fill(other, s->capacity, 17 + rank);
    if (receives)
        MPI_Psend_init(other, partition_count, s->count, s->datatype, objects.peer, 7, objects.comm,
                       MPI_INFO_NULL, &partner);
    else
        MPI_Precv_init(other, partition_count, s->count, s->datatype, objects.source, 7, objects.comm,
                       MPI_INFO_NULL, &partner);
    MPI_Request* const sender = receives ? &partner : &objects.request;
    MPI_Request* const receiver = receives ? &objects.request : &partner;
    CHECK(MPI_Start(sender) == MPI_SUCCESS && MPI_Start(receiver) == MPI_SUCCESS);
    if (!receives) fill_buffers(c, s, mask, 1);
    for (int i = 0; i < partition_count; ++i) CHECK(MPI_Pready(i, *sender) == MPI_SUCCESS);
    for (int i = 0, flag = 0; i < partition_count; ++i, flag = 0)
        while (!flag) CHECK(MPI_Parrived(*receiver, i, &flag) == MPI_SUCCESS);
    save_buffers(c, s, mask, result);
    CHECK(MPI_Wait(sender, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          MPI_Wait(receiver, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Request_free(sender) == MPI_SUCCESS && MPI_Request_free(receiver) == MPI_SUCCESS);
}

static void run_win(const struct DeviceCall* c, const struct Shape* s) {
    MPI_Barrier(objects.comm);
    fill(window, s->capacity, 40 + rank);
    if (c->flags & has_request) {
        MPI_Barrier(objects.comm);
        MPI_Win_lock_all(0, objects.win);
        CHECK(c->call(&objects) == MPI_SUCCESS);
        finish(c);
        MPI_Win_unlock_all(objects.win);
        MPI_Barrier(objects.comm);
    } else {
        MPI_Win_fence(0, objects.win);
        CHECK(c->call(&objects) == MPI_SUCCESS);
        MPI_Win_fence(0, objects.win);
    }
    memcpy(other, window, (size_t)s->capacity);
}

/* The file has the same content from each position at which a rank reads. */
static void run_file(const struct DeviceCall* c, const struct Shape* s) {
    int bytes = 0;
    MPI_Type_size(s->datatype, &bytes);
    bytes *= s->count;
    CHECK(MPI_File_open(objects.comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &objects.file) ==
          MPI_SUCCESS);
    fill(other, s->capacity, 5);
    if (rank == 0)
        for (int i = 0; i < size; ++i)
            MPI_File_write_at(objects.file, i * bytes, other, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(objects.file);
    MPI_Barrier(objects.comm);
    objects.offset = rank * bytes;
    MPI_File_seek(objects.file, objects.offset, MPI_SEEK_SET);
    CHECK(c->call(&objects) == MPI_SUCCESS);
    finish(c);
    if (c->end != NULL) CHECK(c->end(&objects) == MPI_SUCCESS);
    MPI_File_sync(objects.file);
    MPI_Barrier(objects.comm);
    CHECK(size * bytes <= s->capacity);
    MPI_File_read_at(objects.file, 0, other, size * bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(MPI_File_close(&objects.file) == MPI_SUCCESS);
}

/* mask: which buffers are in device memory. */
static void run(const struct DeviceCall* c, const struct Shape* s, unsigned mask, struct Result* result) {
    for (int i = 0; i < max_buffers; ++i) objects.buffer[i] = mask & 1u << i ? device[i] : host[i];
    objects.position = 0;
    fill(other, s->capacity, 0);
    fill_buffers(c, s, mask, 0);
    switch (c->kind) {
    case kind_collective:
    case kind_local:
        run_plain(c, s, mask);
        break;
    case kind_win:
        run_win(c, s);
        break;
    case kind_file:
        run_file(c, s);
        break;
    case kind_partitioned:
        run_partitioned(c, s, mask, result);
        break;
    default:
        run_message(c, s, mask);
    }
    if (c->kind != kind_partitioned) save_buffers(c, s, mask, result);
    memcpy(result->other, other, (size_t)s->capacity);
}

static void use_shape(const struct Shape* s) {
    MPI_Type_size(s->datatype, &objects.bytes);
    objects.bytes *= s->count;
    objects.datatype = s->datatype;
    objects.count = s->count;
    for (int i = 0; i < max_ranks; ++i) {
        objects.datatypes[i] = s->datatype;
        objects.wide_counts[i] = objects.narrow_counts[i] = s->count;
        objects.wide_displs[i] = objects.narrow_displs[i] = i * (s->count + 1);
        objects.wide_byte_displs[i] = objects.narrow_byte_displs[i] = i * (s->count + 1) * s->extent;
    }
}

static void compare(const struct DeviceCall* c, const struct Shape* s, struct Result* expected,
                    struct Result* found) {
    for (int i = 0; i < c->buffers; ++i)
        for (int k = 0; k < s->capacity; ++k)
            if (expected->buffer[i][k] != found->buffer[i][k]) {
                fprintf(stderr, "rank %d: %s: buffer %d differs at byte %d\n", rank, c->name, i, k);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
    CHECK(memcmp(expected->other, found->other, (size_t)s->capacity) == 0);
}

static void allocate_result(struct Result* result, int capacity) {
    for (int i = 0; i < max_buffers; ++i) result->buffer[i] = malloc((size_t)capacity);
    result->other = malloc((size_t)capacity);
}

static void test_shape(const struct Shape* s, int all_masks) {
    static struct Result expected, found;
    allocate_result(&expected, s->capacity);
    allocate_result(&found, s->capacity);
    for (int i = 0; i < max_buffers; ++i) {
        host[i] = malloc((size_t)s->capacity);
        device[i] = driver->allocate((size_t)s->capacity);
    }
    other = malloc((size_t)s->capacity);
    MPI_Win_allocate(s->capacity, 1, MPI_INFO_NULL, objects.comm, &window, &objects.win);
    use_shape(s);
    for (size_t i = 0; i < sizeof device_calls / sizeof *device_calls; ++i) {
        const struct DeviceCall* const c = &device_calls[i];
        const unsigned all = (1u << c->buffers) - 1;
        subject = c->name;
        if (c->kind == kind_refused || (c->flags & predefined_only && s->datatype != MPI_INT)) continue;
        run(c, s, 0, &expected);
        for (unsigned mask = all_masks ? 1 : all; mask <= all; ++mask) {
            const long copies = driver->copies();
            run(c, s, mask, &found);
            CHECK(c->kind == kind_collective || driver->copies() > copies);
            compare(c, s, &expected, &found);
        }
    }
    MPI_Win_free(&objects.win);
    driver->free_all();
}

/* Memory that other processes or the library itself access at any time. */
static void test_refused(void) {
    objects.buffer[0] = driver->allocate(4096);
    objects.bytes = 4096;
    MPI_Win_create_dynamic(MPI_INFO_NULL, objects.comm, &objects.win);
    MPI_Win_set_errhandler(objects.win, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof device_calls / sizeof *device_calls; ++i) {
        if (device_calls[i].kind != kind_refused) continue;
        subject = device_calls[i].name;
        CHECK(class_of(device_calls[i].call(&objects)) == MPI_ERR_BUFFER);
    }
    MPI_Win_free(&objects.win);
}

static void report(void) {
    const int others = (int)(sizeof functions_without_access / sizeof *functions_without_access);
    const int tested = (int)(sizeof device_calls / sizeof *device_calls);
    int refused = 0;
    for (int i = 0; i < tested; ++i) refused += device_calls[i].kind == kind_refused;
    printf("%d of %d functions that access buffers: %d with copies, %d refuse device memory\nno access:",
           tested, tested, tested - refused, refused);
    for (int i = 0; i < others; ++i) printf(" %s", functions_without_access[i]);
    printf("\ngpu_calls: ok\n");
}

int main(int argc, char** argv) {
    begin_test(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &objects.comm);
    MPI_Cart_create(objects.comm, 1, &size, (int[]){1}, 0, &objects.grid);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &objects.session);
    objects.partitions = partition_count;
    objects.peer = (rank + 1) % size;
    objects.source = (rank + size - 1) % size;
    snprintf(path, sizeof path, "%s/gpu_calls.%d.data", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp",
             size);
    static char attached[1 << 20];
    test_refused();
    MPI_Comm_attach_buffer(objects.comm, attached, sizeof attached);

    MPI_Datatype gaps, columns;
    MPI_Type_vector(2, 2, 3, MPI_INT, &columns);
    MPI_Type_create_resized(columns, 0, 32, &gaps);
    MPI_Type_commit(&gaps);
    const struct Shape shapes[] = {
        {MPI_INT, 12, 4, 16 << 10}, {gaps, 6, 32, 16 << 10}, {MPI_INT, 30000, 4, 512 << 10}};
    test_shape(&shapes[0], 1);
    test_shape(&shapes[1], 0);
    test_shape(&shapes[2], 0);
    if (rank == 0) report();
    if (rank == 0) unlink(path);
    MPI_Session_finalize(&objects.session);
    MPI_Type_free(&columns);
    MPI_Type_free(&gaps);
    void* detached;
    int n;
    MPI_Comm_detach_buffer(objects.comm, &detached, &n);
    MPI_Comm_free(&objects.grid);
    MPI_Comm_free(&objects.comm);
    MPI_Finalize();
    return 0;
}
