// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of a process that is stopped, used by others through network devices alone
// (transport/ucx/direct.hpp).
//
//   direct TARGETS_DEVICE ORIGINS_DEVICE
//
// Ends with 77 if a device cannot do it.
#include "transport/ucx/direct.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using zipmpi::transport::ucx::Direct;
using zipmpi::transport::ucx::Exposed;
using zipmpi::transport::ucx::RemoteKey;
using zipmpi::transport::ucx::There;

constexpr int cannot = 77;
constexpr int origins = 2;
constexpr uint64_t rounds = 200;
constexpr size_t block_bytes = size_t{1} << 20;

// What the target shows.
struct Shown {
    uint64_t sum;     // both origins add to it
    uint64_t lock;    // 0: free
    uint64_t guarded; // incremented by get and put, under the lock
    uint64_t word[origins];
    std::byte block[origins][block_bytes];
};

[[noreturn]] void give_up(const char* what) {
    std::printf("direct: FAILED: %s\n", what);
    std::exit(1);
}

void expect(bool holds, const char* what) {
    if (!holds) give_up(what);
}

void tell(int fd, const std::string& text) {
    const auto length = static_cast<uint32_t>(text.size());
    expect(write(fd, &length, sizeof length) == sizeof length &&
               write(fd, text.data(), length) == static_cast<ssize_t>(length),
           "the other process is gone");
}

std::string hear(int fd) {
    uint32_t length = 0;
    expect(read(fd, &length, sizeof length) == sizeof length, "the other process is gone");
    std::string text(length, '\0');
    expect(length == 0 || read(fd, text.data(), length) == static_cast<ssize_t>(length), "half a text");
    return text;
}

std::unique_ptr<Direct> open_device(const char* name) {
    std::string why;
    std::unique_ptr<Direct> device(zipmpi::transport::ucx::open_direct(name, why));
    if (device == nullptr) {
        std::printf("direct: %s\n", why.c_str());
        std::exit(cannot);
    }
    return device;
}

// Opens everything, then does nothing more.
void be_target(const char* device_name, std::span<const int> sockets) {
    const auto device = open_device(device_name);
    const auto shown = std::make_unique<Shown>();
    Exposed exposed;
    expect(device->expose(shown.get(), sizeof *shown, exposed), "expose");
    for (const int fd : sockets) {
        std::string text;
        const int end = device->open_end(text);
        expect(end >= 0, "open_end");
        tell(fd, text);
        expect(device->connect(end, hear(fd)), "connect the target's end");
        expect(!device->connect(end, "x"), "nonsense is not connected to");
        tell(fd, exposed.key);
        tell(fd, std::to_string(reinterpret_cast<uintptr_t>(shown.get())));
    }
    for (const int fd : sockets) tell(fd, "ready"); // and is stopped
    for (const int fd : sockets) hear(fd);
    expect(shown->sum == origins * rounds, "the sum, as the target sees it");
    expect(shown->guarded == origins * rounds, "what the lock guards");
    expect(shown->lock == 0, "the lock is free");
    device->hide(exposed);
}

class Origin {
  public:
    Origin(const char* device_name, int fd, int number)
        : device_(open_device(device_name))
        , number_(number) {
        std::string text;
        end_ = device_->open_end(text);
        const std::string of_target = hear(fd);
        tell(fd, text);
        expect(end_ >= 0 && device_->connect(end_, of_target), "connect the origin's end");
        expect(!device_->learn("nonsense of some length", key_), "nonsense is no key");
        expect(device_->learn(hear(fd), key_), "learn the key");
        base_ = std::stoull(hear(fd));
        expect(hear(fd) == "ready", "the target is ready");
    }
    ~Origin() { device_->forget(key_); }
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;

    [[nodiscard]] const std::string& device() const { return device_->name(); }

    void move() {
        for (const size_t bytes : {size_t{1}, size_t{8}, size_t{100}, size_t{9000}, block_bytes}) {
            std::vector<std::byte> out(bytes);
            std::vector<std::byte> in(bytes);
            for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + bytes);
            const There to = at(offsetof(Shown, block) + static_cast<size_t>(number_) * block_bytes);
            device_->put(end_, out.data(), bytes, to);
            settle();
            device_->get(end_, in.data(), bytes, to);
            settle();
            expect(in == out, "what was put is got");
        }
    }

    void change() {
        uint64_t before = 0;
        const There word = at(offsetof(Shown, word) + static_cast<size_t>(number_) * sizeof(uint64_t));
        const auto swap = [&](uint64_t value) {
            device_->swap(end_, value, &before, word);
            settle();
            return before;
        };
        const auto compare_swap = [&](uint64_t compare, uint64_t value) {
            device_->compare_swap(end_, compare, value, &before, word);
            settle();
            return before;
        };
        expect(swap(5) == 0 && swap(7) == 5, "swap");
        expect(compare_swap(6, 1) == 7 && compare_swap(7, 8) == 7 && swap(0) == 8, "compare and swap");
    }

    void add() {
        for (uint64_t i = 0; i < rounds; ++i) {
            uint64_t before = UINT64_MAX;
            device_->fetch_add(end_, 1, &before, at(offsetof(Shown, sum)));
            settle();
            expect(before < origins * rounds, "fetch and add");
        }
    }

    // A lock of network atomics; under it a counter is read, changed here and written.
    void increment_under_lock() {
        const There lock = at(offsetof(Shown, lock));
        const There counter = at(offsetof(Shown, guarded));
        for (uint64_t i = 0; i < rounds; ++i) {
            uint64_t owner = 1;
            while (owner != 0) {
                device_->compare_swap(end_, 0, static_cast<uint64_t>(number_) + 1, &owner, lock);
                settle();
            }
            uint64_t value = 0;
            device_->get(end_, &value, sizeof value, counter);
            settle();
            ++value;
            device_->put(end_, &value, sizeof value, counter);
            settle();
            uint64_t held = 0;
            device_->swap(end_, 0, &held, lock);
            settle();
            expect(held == static_cast<uint64_t>(number_) + 1, "nobody else had the lock");
        }
    }

  private:
    [[nodiscard]] There at(size_t offset) const { return {base_ + offset, key_.key}; }
    void settle() {
        while (!device_->settled(end_)) device_->progress();
        expect(!device_->failed(end_), "the device");
    }

    std::unique_ptr<Direct> device_;
    int number_;
    int end_ = -1;
    RemoteKey key_;
    uint64_t base_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    int sockets[origins][2];
    for (auto& pair : sockets)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
    pid_t processes[1 + origins] = {};
    int ready[2]; // a byte from each origin; then the target is stopped
    int begin[2]; // a byte for each
    if (pipe(ready) != 0 || pipe(begin) != 0) return 1;
    for (int i = 0; i < 1 + origins; ++i) {
        processes[i] = fork();
        if (processes[i] != 0) continue;
        if (i == 0) {
            const int fds[origins] = {sockets[0][0], sockets[1][0]};
            be_target(argv[1], fds);
            std::exit(0);
        }
        Origin origin(argv[2], sockets[i - 1][1], i - 1);
        char byte = 0;
        expect(write(ready[1], &byte, 1) == 1 && read(begin[0], &byte, 1) == 1, "the parent");
        origin.move();
        origin.change();
        origin.add();
        origin.increment_under_lock();
        std::printf("direct: origin %d is done, with %s, while the target was stopped\n", i - 1,
                    origin.device().c_str());
        std::fflush(stdout);
        tell(sockets[i - 1][1], "done");
        std::exit(0);
    }
    close(ready[1]); // an origin that ends early is not waited for
    char bytes[origins] = {};
    for (int i = 0; i < origins; ++i) static_cast<void>(!read(ready[0], bytes, 1));
    kill(processes[0], SIGSTOP);
    static_cast<void>(!write(begin[1], bytes, sizeof bytes));
    int worst = 0;
    int left = origins;
    for (int n = 0; n < 1 + origins; ++n) {
        int status = 0;
        const pid_t ended = wait(&status);
        worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        if (ended != processes[0] && (--left == 0 || worst != 0))
            kill(processes[0], worst != 0 ? SIGKILL : SIGCONT);
    }
    if (worst == 0) std::printf("direct: ok\n");
    return worst;
}
