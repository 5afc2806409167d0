// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies in MB/s over sizes: memcpy inside one process; process_vm_readv out of the private memory of another
// process; memcpy out of a memfd both have mapped. The names with _touched: the other process rewrites the
// source before each copy, so that its lines come out of the other core's cache.
#include "pair.h"
#include <sys/uio.h>

static char *source, *target, *memfd_source;
static struct {
    _Alignas(64) atomic_ulong asked;
    _Alignas(64) atomic_ulong done;
    _Alignas(64) atomic_size_t size;
} * touch;
static pid_t peer;

static void answer(void) {
    memset(source, 1, largest_message); // its own pages from here on
    for (unsigned long turn = 1;; ++turn) {
        await_value(&touch->asked, turn);
        const size_t size = atomic_load(&touch->size);
        memset(source, (int)turn, size);
        memset(memfd_source, (int)turn, size);
        atomic_store_explicit(&touch->done, turn, memory_order_release);
    }
}

static char let_peer_touch(size_t size) {
    const unsigned long turn = atomic_load(&touch->asked) + 1;
    atomic_store(&touch->size, size);
    atomic_store_explicit(&touch->asked, turn, memory_order_release);
    await_value(&touch->done, turn);
    return (char)turn;
}

static void copy_here(size_t size) { memcpy(target, source, size); }

static void copy_memfd(size_t size) { memcpy(target, memfd_source, size); }

static int refused; // the kernel does not let us read the other process: then there is no such limit

static void copy_by_kernel(size_t size) {
    const struct iovec local = {target, size}, remote = {source, size};
    if (process_vm_readv(peer, &local, 1, &remote, 1, 0) != (ssize_t)size) refused = 1;
}

// Seconds of one copy. If the source is touched each time, only the copies are timed, one by one.
static double time_copies(void (*copy)(size_t), size_t size, long count, int touched) {
    double took = 0, begin = seconds_now();
    for (long i = 0; i < count; ++i) {
        if (touched) {
            const char stamp = let_peer_touch(size);
            begin = seconds_now();
            copy(size);
            took += seconds_now() - begin;
            if (!refused && (target[0] != stamp || target[size - 1] != stamp)) abort();
        } else {
            copy(size);
            __asm__ volatile("" ::: "memory");
        }
    }
    return (touched ? took : seconds_now() - begin) / (double)count;
}

static const struct way {
    const char* name;
    void (*copy)(size_t);
    int touched;
} ways[] = {
    {"memcpy", copy_here, 0},
    {"vm_readv", copy_by_kernel, 0},
    {"vm_readv_touched", copy_by_kernel, 1},
    {"memfd_copy", copy_memfd, 0},
    {"memfd_copy_touched", copy_memfd, 1},
};
enum { way_count = sizeof ways / sizeof *ways, most_sizes = 32 };

static void set_up(void) {
    const int fd = memfd_create("bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, largest_message)) stop_with("memfd_create");
    memfd_source = mmap(NULL, largest_message, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memfd_source == MAP_FAILED) stop_with("mmap");
    source = touched_memory(largest_message);
    target = touched_memory(largest_message);
    touch = shared_memory(sizeof *touch);
    peer = begin_pair(answer);
    let_peer_touch(largest_message);
}

int main(int argc, char** argv) {
    static double samples[way_count][most_sizes][most_sweeps];
    static long counts[way_count][most_sizes];
    const int sweeps = sweeps_option(argc, argv, 7);
    const double slice = number_option(argc, argv, "slice", 0.002);
    size_t sizes[most_sizes];
    const int count = message_sizes(argc, argv, sizes, most_sizes);
    set_up();
    for (int sweep = -1; sweep < sweeps; ++sweep) // the first one only finds how many copies fill a slice
        for (int w = 0; w < way_count; ++w)
            for (int s = 0; s < count; ++s) {
                const struct way* way = &ways[w];
                const double one =
                    time_copies(way->copy, sizes[s], sweep < 0 ? 3 : counts[w][s], way->touched);
                if (sweep < 0)
                    counts[w][s] = (long)(slice / one) + 1;
                else
                    samples[w][s][sweep] = (double)sizes[s] / one / 1e6;
            }
    end_pair(peer);
    for (int w = 0; w < way_count; ++w)
        for (int s = 0; s < count && !(refused && ways[w].copy == copy_by_kernel); ++s)
            report(ways[w].name, sizes[s], median(samples[w][s], sweeps), "MB/s");
    return 0;
}
