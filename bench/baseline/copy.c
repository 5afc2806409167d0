// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies in MB/s over sizes: memcpy inside one process; process_vm_readv from the private memory of another
// process; memcpy from a memfd mapped by both. Names with _touched: the other process rewrites the source
// before each copy, so that its lines come from the other core's cache.
#include "process_pair.h"
#include <sys/uio.h>

static char *source, *target, *memfd_source;
static struct {
    _Alignas(64) atomic_ulong requested;
    _Alignas(64) atomic_ulong done;
    _Alignas(64) atomic_size_t size;
} * touch;
static pid_t peer;

static void run_peer(void) {
    memset(source, 1, largest_message); // private pages from here on
    for (unsigned long turn = 1;; ++turn) {
        await_value(&touch->requested, turn);
        const size_t size = atomic_load(&touch->size);
        memset(source, (int)turn, size);
        memset(memfd_source, (int)turn, size);
        atomic_store_explicit(&touch->done, turn, memory_order_release);
    }
}

static char request_touch(size_t size) {
    const unsigned long turn = atomic_load(&touch->requested) + 1;
    atomic_store(&touch->size, size);
    atomic_store_explicit(&touch->requested, turn, memory_order_release);
    await_value(&touch->done, turn);
    return (char)turn;
}

static void copy_local(size_t size) { memcpy(target, source, size); }

static void copy_memfd(size_t size) { memcpy(target, memfd_source, size); }

static int refused; // process_vm_readv is not permitted: no such limit

static void copy_cma(size_t size) {
    const struct iovec local = {target, size}, remote = {source, size};
    if (process_vm_readv(peer, &local, 1, &remote, 1, 0) != (ssize_t)size) refused = 1;
}

// Seconds of one copy. If the source is touched each time, only the copies are timed, individually.
static double time_copies(void (*copy)(size_t), size_t size, long count, int touched) {
    double took = 0, begin = seconds_now();
    for (long i = 0; i < count; ++i) {
        if (touched) {
            const char stamp = request_touch(size);
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

static const struct path {
    const char* name;
    void (*copy)(size_t);
    int touched;
} paths[] = {
    {"memcpy", copy_local, 0},
    {"vm_readv", copy_cma, 0},
    {"vm_readv_touched", copy_cma, 1},
    {"memfd_copy", copy_memfd, 0},
    {"memfd_copy_touched", copy_memfd, 1},
};
enum { path_count = sizeof paths / sizeof *paths, max_sizes = 32 };

static void set_up(void) {
    const int fd = memfd_create("bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, largest_message)) stop_with("memfd_create");
    memfd_source = mmap(NULL, largest_message, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memfd_source == MAP_FAILED) stop_with("mmap");
    source = touched_memory(largest_message);
    target = touched_memory(largest_message);
    touch = shared_memory(sizeof *touch);
    peer = begin_pair(run_peer);
    request_touch(largest_message);
}

int main(int argc, char** argv) {
    static double samples[path_count][max_sizes][max_sweeps];
    static long counts[path_count][max_sizes];
    const int sweeps = sweeps_option(argc, argv, 7);
    const double slice = number_option(argc, argv, "slice", 0.002);
    size_t sizes[max_sizes];
    const int count = message_sizes(argc, argv, sizes, max_sizes);
    set_up();
    for (int sweep = -1; sweep < sweeps; ++sweep) // the first one determines the copies per slice
        for (int w = 0; w < path_count; ++w)
            for (int s = 0; s < count; ++s) {
                const struct path* path = &paths[w];
                const double one =
                    time_copies(path->copy, sizes[s], sweep < 0 ? 3 : counts[w][s], path->touched);
                if (sweep < 0)
                    counts[w][s] = (long)(slice / one) + 1;
                else
                    samples[w][s][sweep] = (double)sizes[s] / one / 1e6;
            }
    end_pair(peer);
    for (int w = 0; w < path_count; ++w)
        for (int s = 0; s < count && !(refused && paths[w].copy == copy_cma); ++s)
            report(paths[w].name, sizes[s], median(samples[w][s], sweeps), "MB/s");
    return 0;
}
