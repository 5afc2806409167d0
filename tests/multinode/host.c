// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A host made of namespaces, and the launch agent that starts commands on it.
//
//   host init NAME SOCKET [shared-network]   creates the namespaces (with shared-network, in the caller's
//                           network); becomes process 1 in them; prints its pid as seen from outside, then
//                           serves SOCKET until its parent exits
//   host run SOCKET COMMAND...   runs a command there with the caller's standard streams and environment, and
//                           exits with its status
//   host agent HOST COMMAND...   like run with the socket $CLUSTER_DIR/HOST and COMMAND for a shell, as ssh
//   does
//
// SOCKET is a file: Unix sockets in the file system work across network namespaces, and need no pid of
// another namespace.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { text_limit = 1 << 20, most_commands = 512, cannot = 125, not_in_namespaces = 77 };

extern char** environ;

static void fail(const char* step) {
    perror(step);
    exit(cannot);
}

static int open_socket(const char* path, struct sockaddr_un* address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        fail(path);
    }
    strcpy(address->sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    return fd;
}

// ---- the client

static size_t add_text(char* out, size_t used, const char* text) {
    const size_t n = strlen(text) + 1;
    if (used + n > text_limit) {
        errno = E2BIG;
        fail("command and environment");
    }
    memcpy(out + used, text, n);
    return used + n;
}

// number of arguments, arguments, directory, environment
static size_t describe(char* out, int argc, char** argv) {
    char number[16];
    char directory[4096];
    snprintf(number, sizeof number, "%d", argc);
    size_t used = add_text(out, 0, number);
    for (int i = 0; i < argc; ++i) used = add_text(out, used, argv[i]);
    used = add_text(out, used, getcwd(directory, sizeof directory) != NULL ? directory : "/");
    for (char** e = environ; *e != NULL; ++e) used = add_text(out, used, *e);
    return used;
}

static int run(const char* path, int argc, char** argv) {
    struct sockaddr_un address;
    const int fd = open_socket(path, &address);
    const int room = 2 * text_limit;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
        fprintf(stderr, "no such host: %s: %s\n", path, strerror(errno));
        return 255;
    }
    char* text = malloc(text_limit);
    if (text == NULL) fail("malloc");
    struct iovec bytes = {text, describe(text, argc, argv)};
    union {
        char room[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr m = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(3 * sizeof(int));
    const int streams[3] = {0, 1, 2};
    memcpy(CMSG_DATA(c), streams, sizeof streams);
    if (sendmsg(fd, &m, 0) < 0) fail("sendmsg");
    for (int i = 0; i < 3; ++i) close(i);
    int32_t status = 0;
    if (recv(fd, &status, sizeof status, 0) != sizeof status) return 255; // the host has ended
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int agent(int argc, char** argv) {
    const char* folder = getenv("CLUSTER_DIR");
    char path[256];
    char own[65] = "";
    gethostname(own, sizeof own - 1);
    if (folder == NULL) folder = "/nowhere";
    snprintf(path, sizeof path, "%s/view.%s", folder, own);
    const int has_view = access(path, X_OK) == 0; // folder of the hosts with a network in common
    if (has_view)
        snprintf(path, sizeof path, "%s/view.%s/%s", folder, own, argv[0]);
    else
        snprintf(path, sizeof path, "%s/%s", folder, argv[0]);
    char* command = malloc(text_limit);
    size_t used = 0;
    for (int i = 1; i < argc; ++i) {
        used = add_text(command, used, argv[i]);
        command[used - 1] = ' ';
    }
    command[used > 0 ? used - 1 : 0] = '\0';
    if (chdir("/") != 0) fail("/"); // not the caller's directory, as with ssh
    char* words[] = {"/bin/sh", "-c", command, NULL};
    return run(path, 3, words);
}

// ---- the host

struct command {
    pid_t pid;
    int connection;
};
static struct command commands[most_commands];

static void child(char* text, size_t size, const int* streams) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    for (int i = 0; i < 3; ++i) dup2(streams[i], i);
    char* words[8192];
    size_t count = 0;
    for (char* at = text; at < text + size && count < 8191; at += strlen(at) + 1) words[count++] = at;
    words[count] = NULL;
    const size_t argc = (size_t)atoi(words[0]);
    if (argc + 1 >= count) _exit(cannot);
    if (chdir(words[argc + 1]) != 0 && chdir("/") != 0) _exit(cannot);
    environ = words + argc + 2;
    words[argc + 1] = NULL;
    execvp(words[1], words + 1);
    fprintf(stderr, "%s: %s\n", words[1], strerror(errno));
    _exit(127);
}

static void start_command(int connection) {
    static char text[text_limit];
    struct iovec bytes = {text, sizeof text - 1};
    union {
        char room[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr m = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t n = recvmsg(connection, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr* c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    int streams[3];
    struct command* place = commands;
    while (place < commands + most_commands && place->pid != 0) ++place;
    if (c == NULL || c->cmsg_len != CMSG_LEN(sizeof streams) || place == commands + most_commands) {
        close(connection);
        return;
    }
    memcpy(streams, CMSG_DATA(c), sizeof streams);
    text[n] = '\0';
    const pid_t pid = fork();
    if (pid == 0) child(text, (size_t)n, streams);
    for (int i = 0; i < 3; ++i) close(streams[i]);
    if (pid < 0) {
        close(connection);
        return;
    }
    place->pid = pid;
    place->connection = connection;
}

static void reap(void) {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (struct command* c = commands; c < commands + most_commands; ++c) {
            if (c->pid != pid) continue;
            const int32_t reply = status;
            send(c->connection, &reply, sizeof reply, MSG_NOSIGNAL);
            close(c->connection);
            c->pid = 0;
        }
}

static void serve(const char* path) {
    struct sockaddr_un address;
    const int listener = open_socket(path, &address);
    const int room = 2 * text_limit;
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 256) != 0)
        fail(path);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd p[2] = {{listener, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
        poll(p, 2, -1);
        struct signalfd_siginfo info;
        while (read(signals, &info, sizeof info) > 0) {
        }
        reap();
        if ((p[0].revents & POLLIN) == 0) continue;
        const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection >= 0) start_command(connection);
    }
}

// Mounts a /sys with the interfaces of this host: UCX searches them there. Otherwise only names that exist
// outside are found.
static void show_own_interfaces(void) {
    const char* const place = "/tmp/sys";
    if (mkdir(place, 0700) != 0) return;
    if (mount("sysfs", place, "sysfs", MS_NOSUID | MS_NOEXEC | MS_NODEV | MS_RDONLY, NULL) == 0) {
        mount("/sys/fs/cgroup", "/tmp/sys/fs/cgroup", NULL, MS_BIND | MS_REC, NULL);
        if (mount(place, "/sys", NULL, MS_MOVE, NULL) != 0) umount2(place, MNT_DETACH);
    }
    rmdir(place);
}

static void set_up(const char* name, int own_network) {
    if (sethostname(name, strlen(name)) != 0) fail("sethostname");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("private mounts");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL) != 0) fail("mount /proc");
    // Shows the devices of this host to UCX. In the caller's network they are visible already, and the kernel
    // rejects a second mount.
    if (own_network && mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL) != 0)
        fail("mount /sys");
    if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) fail("mount /dev/shm");
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) fail("mount /tmp");
    if (own_network) show_own_interfaces();
}

static int init(const char* name, const char* path, int own_network) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with the harness
    if (unshare((own_network ? CLONE_NEWNET : 0) | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS |
                CLONE_NEWPID) != 0) {
        perror("unshare");
        return not_in_namespaces;
    }
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) fail("pipe");
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // its exit ends everything in its pid namespace
        close(ready[0]);
        set_up(name, own_network);
        close(ready[1]);
        serve(path);
    }
    close(ready[1]);
    char byte;
    if (read(ready[0], &byte, 1) != 0) return cannot;
    printf("%d\n", (int)pid);
    fflush(stdout);
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int main(int argc, char** argv) {
    if (argc == 4 && strcmp(argv[1], "init") == 0) return init(argv[2], argv[3], 1);
    if (argc == 5 && strcmp(argv[1], "init") == 0 && strcmp(argv[4], "shared-network") == 0)
        return init(argv[2], argv[3], 0);
    if (argc >= 4 && strcmp(argv[1], "run") == 0) return run(argv[2], argc - 3, argv + 3);
    if (argc >= 4 && strcmp(argv[1], "agent") == 0) return agent(argc - 2, argv + 2);
    fprintf(stderr, "usage: host init NAME SOCKET [shared-network] | host run SOCKET COMMAND... | host agent "
                    "HOST COMMAND...\n");
    return 2;
}
