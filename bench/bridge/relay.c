// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A minimal relay in user space: one blocking thread per direction, which copies through a buffer or splices
// through a pipe. relay port=P to=A to_port=Q how=copy|splice buffer=131072
#include "tcp.h"
#include <fcntl.h>
#include <pthread.h>

static size_t buffer = 131072;
static int splices;

struct path {
    int from, to;
};

static void copy(int from, int to) {
    char* const memory = touched_memory(buffer);
    for (ssize_t n; (n = recv(from, memory, buffer, 0)) > 0;) write_all(to, memory, (size_t)n);
    free(memory);
}

static void splice_through(int from, int to) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) stop("pipe");
    fcntl(ends[1], F_SETPIPE_SZ, (int)buffer);
    for (ssize_t n; (n = splice(from, NULL, ends[1], NULL, buffer, SPLICE_F_MOVE)) > 0;)
        for (ssize_t m; n > 0; n -= m)
            if ((m = splice(ends[0], NULL, to, NULL, (size_t)n, SPLICE_F_MOVE)) <= 0) stop("splice");
    close(ends[0]);
    close(ends[1]);
}

static void* forward(void* argument) {
    const struct path w = *(struct path*)argument;
    free(argument);
    if (splices)
        splice_through(w.from, w.to);
    else
        copy(w.from, w.to);
    shutdown(w.to, SHUT_WR);
    return NULL;
}

static void begin(int from, int to) {
    pthread_t thread;
    struct path* const w = malloc(sizeof *w);
    if (!w) stop("malloc");
    *w = (struct path){from, to};
    if (pthread_create(&thread, NULL, forward, w)) stop("pthread_create");
    pthread_detach(thread);
}

int main(int argc, char** argv) {
    buffer = (size_t)number_option(argc, argv, "buffer", 131072);
    splices = !strcmp(text_option(argc, argv, "how", "copy"), "splice");
    const int listener = listen_on((int)number_option(argc, argv, "port", 5001));
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        const int from = accept_one(listener);
        const int to = connect_to(text_option(argc, argv, "to", "127.0.0.1"),
                                  (int)number_option(argc, argv, "to_port", 5000));
        begin(from, to);
        begin(to, from);
    }
}
