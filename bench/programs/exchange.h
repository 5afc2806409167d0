// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Exchanges between pairs of ranks for cg.c and mg.c, by three methods: by messages, by puts between post and
// start, and by puts that a flag follows. A channel leads to one channel of one partner and has two receive
// buffers: a partner that is one turn ahead writes into the other one.
#ifndef BENCH_EXCHANGE_H
#define BENCH_EXCHANGE_H

#include "bench.h"

#include <sched.h>
#include <stdint.h>

enum method { messages, post_start, flags, method_count };
static const char* const method_names[] = {"messages", "post_start", "flags"};
enum { max_channels = 8 };

struct channel {
    int partner;
    int remote; // number of the channel at the partner
    int64_t turn;
    MPI_Request requests[2];
};

struct exchanger {
    enum method method;
    size_t words; // capacity of a buffer
    MPI_Win win;
    double* memory;
    struct channel channel[max_channels];
};

static inline MPI_Aint buffer_offset(const struct exchanger* x, int channel, int64_t turn) {
    return (MPI_Aint)(x->words * (size_t)(2 * channel + (int)(turn % 2)));
}
static inline MPI_Aint flag_offset(const struct exchanger* x, int channel) {
    return (MPI_Aint)(x->words * 2 * max_channels) + channel;
}
// What the last exchange over this channel received.
static inline double* received(const struct exchanger* x, int channel) {
    return x->memory + buffer_offset(x, channel, x->channel[channel].turn);
}

static inline void open_exchanger(struct exchanger* x, size_t words) {
    const size_t all = words * 2 * max_channels + max_channels;
    x->words = words;
    MPI_Win_allocate((MPI_Aint)(all * sizeof(double)), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &x->memory, &x->win);
    memset(x->memory, 0, all * sizeof(double));
    for (int i = 0; i < max_channels; ++i) x->channel[i].turn = 0;
}

// Before the first exchange by this method, and after the last one. Collective.
static inline void begin_method(struct exchanger* x, enum method method) {
    x->method = method;
    MPI_Barrier(MPI_COMM_WORLD);
    if (method == flags) MPI_Win_lock_all(0, x->win);
}
static inline void end_method(struct exchanger* x) {
    if (x->method == flags) MPI_Win_unlock_all(x->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline MPI_Group partner_group(const struct exchanger* x, const int* channels, int count) {
    int ranks[max_channels], different = 0;
    MPI_Group all, partners;
    for (int i = 0; i < count; ++i) {
        int seen = 0;
        for (int k = 0; k < different; ++k) seen |= ranks[k] == x->channel[channels[i]].partner;
        if (!seen) ranks[different++] = x->channel[channels[i]].partner;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, different, ranks, &partners);
    MPI_Group_free(&all);
    return partners;
}

static inline void put_channel(struct exchanger* x, int number, const double* out, size_t words) {
    const struct channel* c = &x->channel[number];
    MPI_Put(out, (int)words, MPI_DOUBLE, c->partner, buffer_offset(x, c->remote, c->turn), (int)words,
            MPI_DOUBLE, x->win);
}

// Starts `count` exchanges of channels[i]; out[i] must not change before they end.
static inline void begin_exchange(struct exchanger* x, const int* channels, int count, double* const* out,
                                  size_t words) {
    for (int i = 0; i < count; ++i) {
        struct channel* c = &x->channel[channels[i]];
        ++c->turn;
        if (x->method == messages) {
            MPI_Irecv(received(x, channels[i]), (int)words, MPI_DOUBLE, c->partner, channels[i],
                      MPI_COMM_WORLD, &c->requests[0]);
            MPI_Isend(out[i], (int)words, MPI_DOUBLE, c->partner, c->remote, MPI_COMM_WORLD, &c->requests[1]);
        } else if (x->method == flags) {
            put_channel(x, channels[i], out[i], words);
        }
    }
    if (x->method == flags)
        for (int i = 0; i < count; ++i) {
            struct channel* c = &x->channel[channels[i]];
            MPI_Win_flush(c->partner, x->win);
            MPI_Accumulate(&c->turn, 1, MPI_INT64_T, c->partner, flag_offset(x, c->remote), 1, MPI_INT64_T,
                           MPI_REPLACE, x->win);
            MPI_Win_flush(c->partner, x->win);
        }
    if (x->method != post_start) return;
    MPI_Group partners = partner_group(x, channels, count);
    MPI_Win_post(partners, 0, x->win);
    MPI_Win_start(partners, 0, x->win);
    for (int i = 0; i < count; ++i) put_channel(x, channels[i], out[i], words);
    MPI_Win_complete(x->win);
    MPI_Group_free(&partners);
}

static inline void await_flag(struct exchanger* x, int rank, int number) {
    int64_t seen = 0, unused = 0;
    for (int polls = 1;; ++polls) {
        MPI_Fetch_and_op(&unused, &seen, MPI_INT64_T, rank, flag_offset(x, number), MPI_NO_OP, x->win);
        MPI_Win_flush(rank, x->win);
        if (seen >= x->channel[number].turn) break;
        if (polls % 100 == 0) sched_yield();
    }
    MPI_Win_sync(x->win);
}

static inline void finish_exchange(struct exchanger* x, int rank, const int* channels, int count) {
    if (x->method == post_start) MPI_Win_wait(x->win);
    for (int i = 0; i < count; ++i) {
        if (x->method == messages) MPI_Waitall(2, x->channel[channels[i]].requests, MPI_STATUSES_IGNORE);
        if (x->method == flags) await_flag(x, rank, channels[i]);
    }
}

#endif
