// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A TCP connection without any library. tcp serve port=P is the server; tcp ping to=A port=P sizes=... prints
// `tcp_latency`: half round trip, us; tcp stream to=A port=P sizes=... seconds=S prints `tcp_bandwidth`,
// MB/s.
#include "tcp.h"
#include <pthread.h>

struct request { // first message of a client
    uint64_t echo, bytes;
};

static void* serve_one(void* argument) {
    const int fd = (int)(intptr_t)argument;
    struct request r;
    char* const memory = touched_memory(largest_message);
    while (read_all(fd, (char*)&r, sizeof r)) {
        for (uint64_t i = 0; i < r.echo; ++i) {
            if (!read_all(fd, memory, r.bytes)) break;
            write_all(fd, memory, r.bytes);
        }
        for (uint64_t left = r.echo ? 0 : r.bytes; left;) {
            const ssize_t n = recv(fd, memory, left < largest_message ? left : largest_message, 0);
            if (n <= 0) break;
            left -= (uint64_t)n;
        }
        if (!r.echo) write_all(fd, memory, 1);
    }
    close(fd);
    free(memory);
    return NULL;
}

static void serve(int port) {
    const int listener = listen_on(port);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve_one, (void*)(intptr_t)accept_one(listener)) == 0)
            pthread_detach(thread);
    }
}

static double ping(int fd, char* memory, size_t size, uint64_t times) {
    const struct request r = {times, size};
    write_all(fd, (const char*)&r, sizeof r);
    const double begin = seconds_now();
    for (uint64_t i = 0; i < times; ++i) {
        write_all(fd, memory, size);
        if (!read_all(fd, memory, size)) stop("recv");
    }
    return (seconds_now() - begin) / (double)times;
}

static double stream(int fd, char* memory, size_t size, double seconds) {
    uint64_t messages = 4;
    for (;;) {
        const struct request r = {0, messages * size};
        write_all(fd, (const char*)&r, sizeof r);
        const double begin = seconds_now();
        for (uint64_t i = 0; i < messages; ++i) write_all(fd, memory, size);
        if (!read_all(fd, memory, 1)) stop("recv");
        const double took = seconds_now() - begin;
        if (took >= seconds) return (double)(messages * size) / took;
        messages =
            took < seconds / 8 ? messages * 4 : (uint64_t)((double)messages * seconds / took * 1.1) + 1;
    }
}

int main(int argc, char** argv) {
    const int port = (int)number_option(argc, argv, "port", 5000);
    const char* what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "serve")) serve(port);
    const double seconds = number_option(argc, argv, "seconds", 0.3);
    size_t sizes[64];
    const int count = message_sizes(argc, argv, sizes, 64);
    char* const memory = touched_memory(largest_message);
    const int fd = connect_to(text_option(argc, argv, "to", "127.0.0.1"), port);
    for (int i = 0; i < count; ++i) {
        if (!strcmp(what, "ping")) {
            double samples[5];
            const double about = ping(fd, memory, sizes[i], 100);
            const uint64_t times = (uint64_t)(seconds / 5 / about) + 1;
            for (int k = 0; k < 5; ++k) samples[k] = ping(fd, memory, sizes[i], times);
            report("tcp_latency", sizes[i], median(samples, 5) / 2 * 1e6, "us");
        } else {
            report("tcp_bandwidth", sizes[i], stream(fd, memory, sizes[i], seconds) / 1e6, "MB/s");
        }
    }
    close(fd);
    free(memory);
    return 0;
}
