// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Lower bound of a small message: a flag and 40 bytes in one cache line travel to the other core and back,
// one line per direction. Half round trip in microseconds.
#include "process_pair.h"

struct cache_line {
    _Alignas(4096) atomic_ulong flag;
    char payload[40];
};

static struct cache_line* lines; // one per direction

static void send_line(struct cache_line* line, unsigned long turn) {
    memset(line->payload, (int)turn, sizeof line->payload);
    atomic_store_explicit(&line->flag, turn, memory_order_release);
}

static void receive_line(const struct cache_line* line, unsigned long turn) {
    char payload[sizeof line->payload];
    await_value(&line->flag, turn);
    memcpy(payload, line->payload, sizeof payload);
    if (payload[0] != (char)turn || payload[sizeof payload - 1] != (char)turn) abort();
}

static void run_peer(void) {
    for (unsigned long turn = 1;; ++turn) {
        receive_line(&lines[0], turn);
        send_line(&lines[1], turn);
    }
}

static double round_trips(unsigned long* turn, long count) {
    const double begin = seconds_now();
    for (long i = 0; i < count; ++i) {
        send_line(&lines[0], ++*turn);
        receive_line(&lines[1], *turn);
    }
    return (seconds_now() - begin) / (double)count;
}

int main(int argc, char** argv) {
    const int sweeps = sweeps_option(argc, argv, 21);
    const double slice = number_option(argc, argv, "slice", 0.01);
    lines = shared_memory(2 * sizeof *lines);
    const pid_t child = begin_pair(run_peer);
    unsigned long turn = 0;
    double samples[max_sweeps];
    long count = (long)(slice / round_trips(&turn, 1000));
    for (int i = 0; i < sweeps; ++i) samples[i] = round_trips(&turn, count > 100 ? count : 100) / 2 * 1e6;
    end_pair(child);
    report("line_ping_pong", sizeof lines->payload, median(samples, sweeps), "us");
    return 0;
}
