// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// delay_box PID DEVICE PID DEVICE MICROSECONDS: emulates a long cable. Creates one TAP device in the network
// namespace of each process and carries every frame from one to the other after the given delay, in both
// directions. Prints 'ready' and runs until it is killed; the devices disappear with it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { longest_frame = 70000, frames_held = 4096 };

struct frame {
    int64_t due;
    size_t bytes;
    char* data;
};

// Frames in flight in one direction, oldest first.
struct path {
    int from, to;
    struct frame frames[frames_held];
    size_t first, count;
};

static int64_t delay;
static char buffer[longest_frame];

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Frames keep the virtio header, which states the offloads the kernel has not done yet: the other side
// completes them, so that large segments are not split.
static int make_device(const char* pid, const char* name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    const int net = open(path, O_RDONLY | O_CLOEXEC);
    if (net < 0 || setns(net, CLONE_NEWNET) != 0) fail(path);
    close(net);
    const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) fail("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(device, TUNSETIFF, &request) != 0) fail(name);
    if (ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) fail("offload");
    return device;
}

static void read_frame(struct path* w) {
    while (w->count < frames_held) {
        const ssize_t n = read(w->from, buffer, sizeof buffer);
        if (n <= 0) return;
        struct frame* f = &w->frames[(w->first + w->count++) % frames_held];
        *f = (struct frame){now() + delay, (size_t)n, malloc((size_t)n)};
        if (f->data == NULL) fail("memory");
        memcpy(f->data, buffer, (size_t)n);
    }
}

// Forwards frames whose delay is over; a full device drops them, as a cable does. Returns when the next is
// due.
static int64_t forward(struct path* w) {
    while (w->count > 0) {
        struct frame* f = &w->frames[w->first];
        if (f->due > now()) return f->due;
        if (write(w->to, f->data, f->bytes) < 0 && errno != EAGAIN && errno != EIO) fail("write");
        free(f->data);
        w->first = (w->first + 1) % frames_held;
        --w->count;
    }
    return INT64_MAX;
}

int main(int argc, char** argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: delay_box PID DEVICE PID DEVICE MICROSECONDS\n");
        return 2;
    }
    const int a = make_device(argv[1], argv[2]);
    const int b = make_device(argv[3], argv[4]);
    delay = atoll(argv[5]) * 1000;
    static struct path there, back;
    there.from = back.to = a;
    there.to = back.from = b;
    prctl(PR_SET_PDEATHSIG, 9);
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    puts("ready");
    fflush(stdout);
    for (;;) {
        read_frame(&there);
        read_frame(&back);
        const int64_t due = forward(&there), other = forward(&back), next = due < other ? due : other;
        struct pollfd ends[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
        const int64_t left = next == INT64_MAX ? 0 : next - now();
        const struct timespec wait = {left / 1000000000, left % 1000000000};
        if (left > 0 || next == INT64_MAX) ppoll(ends, 2, next == INT64_MAX ? NULL : &wait, NULL);
    }
}
