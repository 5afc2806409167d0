/* SPDX-FileCopyrightText: 2026 the ZipMPI authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Audited messages: each carries its source, destination, number, length and a checksum. A receiver accepts
 * from each source exactly the next number. At the end every rank sends every other the number of its
 * messages. usage: message_audit SEED SECONDS [keep-going]. With keep-going ranks may fail: the others
 * continue, and compute on a communicator of the survivors.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 64, most_bytes = 300000, receives = 4, sends = 6, tag_message = 1, tag_end = 2 };

struct head {
    int32_t source, destination;
    uint64_t number;
    uint32_t bytes, sum;
};

static int rank, size, keep_going;
static uint64_t sent[most_ranks], taken[most_ranks], promised[most_ranks];
static int dead[most_ranks], ended[most_ranks];
static uint64_t state;

static uint32_t random_below(uint32_t sides) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % sides;
}

static uint32_t checksum(const unsigned char* data, uint32_t bytes) {
    uint32_t a = 1, b = 0;
    for (uint32_t i = 0; i < bytes; ++i) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void report_violation(const char* what, int from, uint64_t number) {
    printf("WRONG: rank %d: %s, message %llu from rank %d, %llu received\n", rank, what,
           (unsigned long long)number, from, (unsigned long long)taken[from]);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 99);
}

static int class_of(int code) {
    int c = MPI_SUCCESS;
    MPI_Error_class(code, &c);
    return c;
}

/* Returns true when the operation is complete. Errors are fatal unless ranks may fail. */
static void check(int code, int peer) {
    if (code == MPI_SUCCESS) return;
    if (!keep_going) exit(7); /* the error handler has ended the job */
    if (class_of(code) == MPIX_ERR_PROC_FAILED && peer >= 0)
        dead[peer] = 1;
    else if (class_of(code) != MPIX_ERR_PROC_FAILED)
        report_violation("unexpected error", peer < 0 ? 0 : peer, (uint64_t)code);
}

static void mark_failed(void) {
    MPI_Group failed, all;
    int n = 0, number;
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(failed, &n);
    for (int i = 0; i < n; ++i) {
        MPI_Group_translate_ranks(failed, 1, &i, all, &number);
        dead[number] = 1;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&failed);
}

static void check_message(const unsigned char* buffer, const MPI_Status* status) {
    struct head h;
    int bytes = 0;
    const int from = status->MPI_SOURCE;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    memcpy(&h, buffer, sizeof h);
    if (h.source != from || h.destination != rank)
        report_violation("addressed to another rank", from, h.number);
    if (status->MPI_TAG == tag_end) {
        promised[from] = h.number;
        ended[from] = 1;
        return;
    }
    if ((uint32_t)bytes != h.bytes + sizeof h) report_violation("wrong length", from, h.number);
    if (h.number != taken[from] + 1)
        report_violation(h.number <= taken[from] ? "duplicated" : "lost before this", from, h.number);
    if (checksum(buffer + sizeof h, h.bytes) != h.sum) report_violation("wrong bytes", from, h.number);
    taken[from] = h.number;
}

static MPI_Request in[receives], out[sends];
static unsigned char *in_buffer[receives], *out_buffer[sends];
static int out_peer[sends];

static void post(int i) {
    check(MPI_Irecv(in_buffer[i], most_bytes + (int)sizeof(struct head), MPI_BYTE, MPI_ANY_SOURCE,
                    MPI_ANY_TAG, MPI_COMM_WORLD, &in[i]),
          -1);
}

/* Receives are completed in posting order: messages of one source match in that order. */
static void progress_requests(void) {
    static int first;
    for (;;) {
        int flag = 0;
        MPI_Status status;
        const int code = MPI_Test(&in[first], &flag, &status);
        if (class_of(code) == MPIX_ERR_PROC_FAILED_PENDING) {
            mark_failed();
            continue;
        }
        const int from = code == MPI_SUCCESS ? -1 : status.MPI_SOURCE;
        check(code, from);
        if (!flag) break;
        if (code == MPI_SUCCESS)
            check_message(in_buffer[first], &status);
        else if (from >= 0)
            ++taken[from]; /* its sender died before the message was complete: one message, one error */
        post(first);
        first = (first + 1) % receives;
    }
    for (int i = 0; i < sends; ++i) {
        int flag = 0;
        if (out[i] == MPI_REQUEST_NULL) continue;
        check(MPI_Test(&out[i], &flag, MPI_STATUS_IGNORE), out_peer[i]);
    }
}

static void send_one(int i, int to, int tag, uint32_t bytes) {
    struct head h = {rank, to, tag == tag_end ? sent[to] : ++sent[to], bytes, 0};
    for (uint32_t b = 0; b < bytes; b += 64) out_buffer[i][sizeof h + b] = (unsigned char)random_below(256);
    h.sum = checksum(out_buffer[i] + sizeof h, bytes);
    memcpy(out_buffer[i], &h, sizeof h);
    out_peer[i] = to;
    check(MPI_Isend(out_buffer[i], (int)(bytes + sizeof h), MPI_BYTE, to, tag, MPI_COMM_WORLD, &out[i]), to);
}

static int free_slot(void) {
    for (;;) {
        for (int i = 0; i < sends; ++i)
            if (out[i] == MPI_REQUEST_NULL) return i;
        progress_requests();
    }
}

static int all_ended(void) {
    if (keep_going) mark_failed();
    for (int i = 0; i < size; ++i)
        if (i != rank && !dead[i] && !(ended[i] && taken[i] == promised[i])) return 0;
    for (int i = 0; i < sends; ++i)
        if (out[i] != MPI_REQUEST_NULL) return 0;
    return 1;
}

static void compute_with_survivors(void) {
    MPI_Comm rest;
    int n = 0, one = 1, sum = 0;
    for (;;) { /* ranks may fail here, too */
        if (MPIX_Comm_shrink(MPI_COMM_WORLD, &rest) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 98);
        MPI_Comm_size(rest, &n);
        int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, rest);
        int good = code == MPI_SUCCESS;
        if (good && sum != n) report_violation("wrong sum", 0, (uint64_t)sum);
        code = MPIX_Comm_agree(rest, &good);
        MPI_Comm_free(&rest);
        if (code == MPI_SUCCESS && good) return;
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double seconds = argc > 2 ? atof(argv[2]) : 1;
    keep_going = argc > 3 && strcmp(argv[3], "keep-going") == 0;
    if (keep_going) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    state = strtoull(argc > 1 ? argv[1] : "1", NULL, 10) * 1000003u + (uint64_t)rank;
    for (int i = 0; i < receives; ++i) {
        in_buffer[i] = malloc(most_bytes + sizeof(struct head));
        post(i);
    }
    for (int i = 0; i < sends; ++i) {
        out_buffer[i] = calloc(1, most_bytes + sizeof(struct head));
        out[i] = MPI_REQUEST_NULL;
    }
    printf("here\n");
    fflush(stdout);
    for (const double end = MPI_Wtime() + seconds; size > 1 && MPI_Wtime() < end;) {
        const int to = (rank + 1 + (int)random_below((uint32_t)size - 1)) % size;
        if (!dead[to])
            send_one(free_slot(), to, tag_message,
                     random_below(8) == 0 ? random_below(most_bytes) : random_below(2000));
        progress_requests();
    }
    for (int to = 0; to < size; ++to)
        if (to != rank && !dead[to]) send_one(free_slot(), to, tag_end, 0);
    while (!all_ended()) progress_requests();
    for (int i = 0; i < receives; ++i) {
        MPI_Cancel(&in[i]);
        MPI_Wait(&in[i], MPI_STATUS_IGNORE);
    }
    if (keep_going) compute_with_survivors();
    MPI_Finalize();
    printf("over\n");
    return 0;
}
