// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Round trip between two processes on two cores that sleep in the kernel whenever they wait, in microseconds.
#include "process_pair.h"
#include <linux/futex.h>
#include <sys/syscall.h>

static atomic_uint* words; // one per direction

static void wake(atomic_uint* word, unsigned value) {
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void sleep_until(atomic_uint* word, unsigned value) {
    for (unsigned seen; (seen = atomic_load(word)) != value;)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void run_peer(void) {
    for (unsigned turn = 1;; ++turn) {
        sleep_until(&words[0], turn);
        wake(&words[1024], turn);
    }
}

int main(int argc, char** argv) {
    const int sweeps = sweeps_option(argc, argv, 11);
    const double slice = number_option(argc, argv, "slice", 0.01);
    words = shared_memory(8192);
    const pid_t child = begin_pair(run_peer);
    double samples[max_sweeps];
    unsigned turn = 0;
    for (int i = 0; i < sweeps; ++i) {
        long trips = 0;
        const double begin = seconds_now();
        do {
            wake(&words[0], ++turn);
            sleep_until(&words[1024], turn);
            ++trips;
        } while (seconds_now() - begin < slice);
        samples[i] = (seconds_now() - begin) / (double)trips * 1e6;
    }
    end_pair(child);
    report("futex_round_trip", 0, median(samples, sweeps), "us");
    return 0;
}
