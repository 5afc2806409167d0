// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking TCP connections, for the reference programs of the bridge.
#ifndef BENCH_BRIDGE_TCP_H
#define BENCH_BRIDGE_TCP_H

#define _GNU_SOURCE
#include "../programs/sample.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline void stop(const char* what) {
    perror(what);
    exit(1);
}

static inline void no_delay(int fd) { setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); }

static inline int listen_on(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (fd < 0 || bind(fd, (const struct sockaddr*)&at, sizeof at) || listen(fd, 16)) stop("listen");
    return fd;
}

static inline int accept_one(int listener) {
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0) stop("accept");
    no_delay(fd);
    return fd;
}

static inline int connect_to(const char* address, int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
        connect(fd, (const struct sockaddr*)&to, sizeof to))
        stop(address);
    no_delay(fd);
    return fd;
}

// Returns false if the other side has closed the connection.
static inline int read_all(int fd, char* to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = recv(fd, to + done, bytes - done, 0);
        if (n <= 0) return 0;
        done += (size_t)n;
    }
    return 1;
}

static inline void write_all(int fd, const char* from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = send(fd, from + done, bytes - done, MSG_NOSIGNAL);
        if (n <= 0) stop("send");
        done += (size_t)n;
    }
}

static inline double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
