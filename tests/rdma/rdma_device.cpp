// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of a stopped process, accessed by others through network devices alone
// (transport/rdma_device.hpp).
//
//   rdma_device TARGETS_DEVICE ORIGINS_DEVICE
//
// Exits with 77 if a device does not support it.
#include "transport/rdma_device.hpp"
#include "transport/ucx/ucx_module.hpp"

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

using zipmpi::transport::MemoryRegion;
using zipmpi::transport::RdmaDevice;
using zipmpi::transport::RemoteAddress;
using zipmpi::transport::RemoteKey;

constexpr int cannot = 77;
constexpr int origins = 2;
constexpr uint64_t rounds = 200;
constexpr size_t block_bytes = size_t{1} << 20;

// The memory that the target exposes.
struct TargetMemory {
    uint64_t sum;     // both origins add to it
    uint64_t lock;    // 0: free
    uint64_t guarded; // incremented by get and put, under the lock
    uint64_t word[origins];
    std::byte block[origins][block_bytes];
};

[[noreturn]] void fail(const char* what) {
    std::printf("rdma_device: FAILED: %s\n", what);
    std::exit(1);
}

void expect(bool holds, const char* what) {
    if (!holds) fail(what);
}

void send_text(int fd, const std::string& text) {
    const auto length = static_cast<uint32_t>(text.size());
    expect(write(fd, &length, sizeof length) == sizeof length &&
               write(fd, text.data(), length) == static_cast<ssize_t>(length),
           "the other process has exited");
}

std::string receive_text(int fd) {
    uint32_t length = 0;
    expect(read(fd, &length, sizeof length) == sizeof length, "the other process has exited");
    std::string text(length, '\0');
    expect(length == 0 || read(fd, text.data(), length) == static_cast<ssize_t>(length), "truncated text");
    return text;
}

std::unique_ptr<RdmaDevice> open_device(const char* name) {
    std::string why;
    std::unique_ptr<RdmaDevice> device(zipmpi::transport::ucx::open_rdma_device(name, why));
    if (device == nullptr) {
        std::printf("rdma_device: %s\n", why.c_str());
        std::exit(cannot);
    }
    return device;
}

// Sets everything up, then does nothing.
void run_target(const char* device_name, std::span<const int> sockets) {
    const auto device = open_device(device_name);
    const auto shown = std::make_unique<TargetMemory>();
    MemoryRegion exposed;
    expect(device->register_memory(shown.get(), sizeof *shown, exposed), "register_memory");
    for (const int fd : sockets) {
        std::string text;
        const int end = device->create_endpoint(text);
        expect(end >= 0, "create_endpoint");
        send_text(fd, text);
        expect(device->connect(end, receive_text(fd)), "connect the target's endpoint");
        expect(!device->connect(end, "x"), "an invalid address is rejected");
        send_text(fd, exposed.key);
        send_text(fd, std::to_string(reinterpret_cast<uintptr_t>(shown.get())));
    }
    for (const int fd : sockets) send_text(fd, "ready"); // then it is stopped
    for (const int fd : sockets) receive_text(fd);
    expect(shown->sum == origins * rounds, "the sum at the target");
    expect(shown->guarded == origins * rounds, "the counter guarded by the lock");
    expect(shown->lock == 0, "the lock is free");
    device->deregister_memory(exposed);
}

class Origin {
  public:
    Origin(const char* device_name, int fd, int number)
        : device_(open_device(device_name))
        , number_(number) {
        std::string text;
        end_ = device_->create_endpoint(text);
        const std::string of_target = receive_text(fd);
        send_text(fd, text);
        expect(end_ >= 0 && device_->connect(end_, of_target), "connect the origin's endpoint");
        expect(!device_->import_key("nonsense of some length", key_), "an invalid key is rejected");
        expect(device_->import_key(receive_text(fd), key_), "import the key");
        base_ = std::stoull(receive_text(fd));
        expect(receive_text(fd) == "ready", "the target is ready");
    }
    ~Origin() { device_->release_key(key_); }
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;

    [[nodiscard]] const std::string& device() const { return device_->name(); }

    void move() {
        for (const size_t bytes : {size_t{1}, size_t{8}, size_t{100}, size_t{9000}, block_bytes}) {
            std::vector<std::byte> out(bytes);
            std::vector<std::byte> in(bytes);
            for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + bytes);
            const RemoteAddress to =
                at(offsetof(TargetMemory, block) + static_cast<size_t>(number_) * block_bytes);
            device_->put(end_, out.data(), bytes, to);
            settle();
            device_->get(end_, in.data(), bytes, to);
            settle();
            expect(in == out, "get returns the data of put");
        }
    }

    void change() {
        uint64_t before = 0;
        const RemoteAddress word =
            at(offsetof(TargetMemory, word) + static_cast<size_t>(number_) * sizeof(uint64_t));
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
            device_->fetch_add(end_, 1, &before, at(offsetof(TargetMemory, sum)));
            settle();
            expect(before < origins * rounds, "fetch and add");
        }
    }

    // A lock of network atomics; it guards a counter that is read, incremented and written.
    void increment_under_lock() {
        const RemoteAddress lock = at(offsetof(TargetMemory, lock));
        const RemoteAddress counter = at(offsetof(TargetMemory, guarded));
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
            expect(held == static_cast<uint64_t>(number_) + 1, "no other origin held the lock");
        }
    }

  private:
    [[nodiscard]] RemoteAddress at(size_t offset) const { return {base_ + offset, key_.key}; }
    void settle() {
        while (!device_->flushed(end_)) device_->progress();
        expect(!device_->failed(end_), "the device");
    }

    std::unique_ptr<RdmaDevice> device_;
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
    int begin[2]; // a byte to each origin
    if (pipe(ready) != 0 || pipe(begin) != 0) return 1;
    for (int i = 0; i < 1 + origins; ++i) {
        processes[i] = fork();
        if (processes[i] != 0) continue;
        if (i == 0) {
            const int fds[origins] = {sockets[0][0], sockets[1][0]};
            run_target(argv[1], fds);
            std::exit(0);
        }
        Origin origin(argv[2], sockets[i - 1][1], i - 1);
        char byte = 0;
        expect(write(ready[1], &byte, 1) == 1 && read(begin[0], &byte, 1) == 1, "the parent");
        origin.move();
        origin.change();
        origin.add();
        origin.increment_under_lock();
        std::printf("rdma_device: origin %d is done, with %s, while the target was stopped\n", i - 1,
                    origin.device().c_str());
        std::fflush(stdout);
        send_text(sockets[i - 1][1], "done");
        std::exit(0);
    }
    close(ready[1]); // do not wait for an origin that exits early
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
    if (worst == 0) std::printf("rdma_device: ok\n");
    return worst;
}
