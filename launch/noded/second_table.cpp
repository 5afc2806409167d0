// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/noded/second_table.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zipmpi::launch {
namespace {

constexpr char done = 'd';
constexpr char refused = 'r';

// A message with the address of a call, and a descriptor.
struct Message {
    explicit Message(void* call, int passed)
        : address(call) {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        if (passed < 0) return;
        attach_space();
        cmsghdr* const c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof passed);
        std::memcpy(CMSG_DATA(c), &passed, sizeof passed);
    }
    void attach_space() {
        header.msg_control = space;
        header.msg_controllen = sizeof space;
    }
    // -1: none, or the table that received it is full.
    [[nodiscard]] int received() {
        const cmsghdr* const c = CMSG_FIRSTHDR(&header);
        int fd = -1;
        if (c != nullptr && c->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
        return fd;
    }

    void* address;
    iovec part{&address, sizeof address};
    msghdr header{};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))]{};
};

// System calls of the thread: sanitizers know one table only.
bool reply(int end, char text) { return syscall(SYS_sendto, end, &text, 1, MSG_NOSIGNAL, nullptr, 0) == 1; }
ssize_t receive(int end, Message& message) {
    return syscall(SYS_recvmsg, end, &message.header, MSG_CMSG_CLOEXEC);
}
bool close_between(int first, int last) {
    return first > last ||
           syscall(SYS_close_range, static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0;
}

} // namespace

SecondTable::~SecondTable() {
    if (!exists()) return;
    caller_end_.reset();
    pthread_join(thread_, nullptr);
}

bool SecondTable::begin(int kept) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    caller_end_.reset(ends[0]);
    const os::Fd thread_end(ends[1]);
    thread_end_ = ends[1];
    kept_ = kept;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the other thread
    const int error = pthread_create(&thread_, nullptr, serve, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    char answer = refused;
    if (error == 0 && recv(caller_end_.get(), &answer, 1, 0) == 1 && answer == done) return true;
    caller_end_.reset();
    if (error == 0) pthread_join(thread_, nullptr);
    return false;
}

ssize_t SecondTable::run(const Function& function, int passed) {
    Call call{&function, -1, EBADF, false, false};
    Message message(&call, passed);
    char answer = refused;
    call.posted.store(true, std::memory_order_release);
    while (sendmsg(caller_end_.get(), &message.header, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return -1;
    }
    while (recv(caller_end_.get(), &answer, 1, 0) < 0 && errno == EINTR) {
    }
    if (!call.done.load(std::memory_order_acquire)) return -1;
    errno = call.error;
    return call.result;
}

// The new table is a copy; what it holds would stay open when the process closes it.
bool SecondTable::close_inherited() const {
    const int low = std::min(kept_, thread_end_);
    const int high = std::max(kept_, thread_end_);
    return unshare(CLONE_FILES) == 0 && close_between(high + 1, INT_MAX) &&
           close_between(low + 1, high - 1) && close_between(0, low - 1);
}

void* SecondTable::serve(void* self) {
    static_cast<const SecondTable*>(self)->serve_calls();
    return nullptr;
}

void SecondTable::serve_calls() const {
    const int end = thread_end_;
    if (!close_inherited()) {
        reply(end, refused);
        return;
    }
    for (bool good = reply(end, done); good;) {
        Message message(nullptr, -1);
        message.attach_space();
        const ssize_t n = receive(end, message);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break; // the process has closed its end
        Call& call = *static_cast<Call*>(message.address);
        while (!call.posted.load(std::memory_order_acquire)) {
        }
        call.result = (*call.function)(message.received());
        call.error = errno;
        call.done.store(true, std::memory_order_release);
        good = reply(end, done);
    }
    close_between(0, INT_MAX); // before the end of the thread, which the kernel announces earlier
}

} // namespace zipmpi::launch
