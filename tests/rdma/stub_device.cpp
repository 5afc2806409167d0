// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A module that emulates a network device (transport/rdma_device.hpp), for tests on machines without one:
// the parameter rma.rdma_module names it. A thread in each process is the device: it serves a socket and uses
// no MPI. Like a device it
//   - delays operations: data are read from the origin's memory as late as possible
//   - has atomics that are atomic among themselves, but not with respect to the target's CPUs
//   - rejects accesses to memory that was not exposed
#include "transport/rdma_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using zipmpi::transport::MemoryRegion;
using zipmpi::transport::RemoteAddress;
using zipmpi::transport::RemoteKey;

enum class Kind : uint64_t { put, get, add, compare_swap };

struct Request {
    Kind kind;
    uint64_t address;
    uint64_t bytes;
    uint64_t key;
    uint64_t value;
    uint64_t compare;
};

bool send_all(int fd, const void* data, size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    for (ssize_t n = 0; bytes > 0; at += n, bytes -= static_cast<size_t>(n))
        if (n = send(fd, at, bytes, MSG_NOSIGNAL); n <= 0) return false;
    return true;
}

bool receive_all(int fd, void* data, size_t bytes) {
    auto* at = static_cast<char*>(data);
    for (ssize_t n = 0; bytes > 0; at += n, bytes -= static_cast<size_t>(n))
        if (n = recv(fd, at, bytes, 0); n <= 0) return false;
    return true;
}

std::string path_of_socket; // removed at exit

struct Remover {
    ~Remover() {
        if (!path_of_socket.empty()) unlink(path_of_socket.c_str());
    }
} remover;

class StubDevice final : public zipmpi::transport::RdmaDevice {
  public:
    bool start(std::string& why) {
        Dl_info self{};
        dladdr(&path_of_socket, &self); // the folder of this file is visible to every host of a test
        char name[108];
        std::snprintf(name, sizeof name, "%s.XXXXXX", self.dli_fname);
        const int taken = mkstemp(name);
        if (taken < 0) return (why = name, false);
        close(taken);
        unlink(name);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
        listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        path_of_socket = name;
        if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            listen(listener_, 64) != 0)
            return (why = name, false);
        std::thread([this] { serve(); }).detach();
        return true;
    }

    [[nodiscard]] const std::string& name() const override { return path_of_socket; }
    [[nodiscard]] bool is_coherent() const override { return false; }
    int create_endpoint(std::string& text) override {
        text = path_of_socket;
        ends_.emplace_back();
        return static_cast<int>(ends_.size()) - 1;
    }
    bool connect(int end, std::string_view text) override {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (text.size() >= sizeof address.sun_path) return false;
        std::memcpy(address.sun_path, text.data(), text.size());
        StubEndpoint& e = ends_[static_cast<size_t>(end)];
        e.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return ::connect(e.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    bool register_memory(void* at, size_t bytes, MemoryRegion& exposed) override {
        const std::lock_guard guard(mutex_);
        const uint64_t key = ++keys_;
        exposed_[key] = {reinterpret_cast<uint64_t>(at), bytes};
        exposed.handle = reinterpret_cast<void*>(key);
        exposed.key.assign(reinterpret_cast<const char*>(&key), sizeof key);
        return true;
    }
    void deregister_memory(MemoryRegion& exposed) override {
        const std::lock_guard guard(mutex_);
        exposed_.erase(reinterpret_cast<uint64_t>(exposed.handle));
        exposed = {};
    }
    bool import_key(std::string_view key, RemoteKey& remote) override {
        if (key.size() != sizeof remote.key) return false;
        std::memcpy(&remote.key, key.data(), key.size());
        return true;
    }
    void release_key(RemoteKey& remote) override { remote = {}; }

    void put(int end, const void* here, size_t bytes, const RemoteAddress& there) override {
        add(end, {{Kind::put, there.address, bytes, there.key, 0, 0}, const_cast<void*>(here)});
    }
    void get(int end, void* here, size_t bytes, const RemoteAddress& there) override {
        add(end, {{Kind::get, there.address, bytes, there.key, 0, 0}, here});
    }
    void fetch_add(int end, uint64_t value, uint64_t* before, const RemoteAddress& there) override {
        add(end, {{Kind::add, there.address, 8, there.key, value, 0}, before});
    }
    void swap(int end, uint64_t, uint64_t*, const RemoteAddress&) override {
        ends_[static_cast<size_t>(end)].failed = true; // not used by windows
    }
    void compare_swap(int end, uint64_t compare, uint64_t value, uint64_t* before,
                      const RemoteAddress& there) override {
        add(end, {{Kind::compare_swap, there.address, 8, there.key, value, compare}, before});
    }
    // One operation per endpoint at a time.
    void progress() override {
        for (StubEndpoint& e : ends_) {
            if (e.waiting.empty()) continue;
            const Pending p = e.waiting.front();
            char answer = 0;
            const bool puts = p.order.kind == Kind::put;
            const bool good = send_all(e.fd, &p.order, sizeof p.order) &&
                              (!puts || send_all(e.fd, p.here, p.order.bytes)) &&
                              receive_all(e.fd, &answer, 1) && answer == 1 &&
                              (puts || receive_all(e.fd, p.here, p.order.bytes));
            e.failed = e.failed || !good;
            e.waiting.pop_front();
        }
    }
    bool flushed(int end) override { return ends_[static_cast<size_t>(end)].waiting.empty(); }
    [[nodiscard]] bool failed(int end) const override { return ends_[static_cast<size_t>(end)].failed; }

  private:
    struct Pending {
        Request order;
        void* here;
    };
    struct StubEndpoint {
        int fd = -1;
        bool failed = false;
        std::deque<Pending> waiting;
    };
    struct Range {
        uint64_t at;
        uint64_t bytes;
    };

    void add(int end, const Pending& pending) {
        if (pending.order.bytes != 0) ends_[static_cast<size_t>(end)].waiting.push_back(pending);
    }

    // --- the device thread
    bool is_exposed(const Request& o) {
        const std::lock_guard guard(mutex_);
        const auto found = exposed_.find(o.key);
        if (found == exposed_.end()) return false;
        const Range& r = found->second;
        return o.address >= r.at && o.address - r.at <= r.bytes && o.bytes <= r.bytes - (o.address - r.at);
    }
    void change(const Request& o, uint64_t& before) {
        auto* const word = reinterpret_cast<volatile uint64_t*>(o.address);
        before = *word;
        if (changes_++ % 4 == 0) sched_yield(); // a concurrent store by a CPU is overwritten
        if (o.kind == Kind::add) *word = before + o.value;
        if (o.kind == Kind::compare_swap && before == o.compare) *word = o.value;
    }
    bool serve_one(int fd) {
        Request o{};
        if (!receive_all(fd, &o, sizeof o)) return false;
        const char good = is_exposed(o) ? 1 : 0;
        if (good == 0) {
            send_all(fd, &good, 1);
            return false;
        }
        auto* const memory = reinterpret_cast<void*>(o.address);
        if (o.kind == Kind::put) return receive_all(fd, memory, o.bytes) && send_all(fd, &good, 1);
        if (o.kind == Kind::get) return send_all(fd, &good, 1) && send_all(fd, memory, o.bytes);
        uint64_t before = 0;
        change(o, before);
        return send_all(fd, &good, 1) && send_all(fd, &before, sizeof before);
    }
    void serve() {
        std::vector<pollfd> fds{{listener_, POLLIN, 0}};
        while (poll(fds.data(), fds.size(), -1) > 0) {
            for (size_t i = 1; i < fds.size(); ++i)
                if (fds[i].revents != 0 && !serve_one(fds[i].fd)) {
                    close(fds[i].fd);
                    fds[i].fd = -1;
                }
            if (fds[0].revents != 0)
                fds.push_back({accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), POLLIN, 0});
        }
    }

    int listener_ = -1;
    std::deque<StubEndpoint> ends_;
    std::mutex mutex_; // guards the data read by the thread
    uint64_t keys_ = 0;
    std::map<uint64_t, Range> exposed_;
    uint64_t changes_ = 0;
};

} // namespace

extern "C" [[gnu::visibility("default")]] zipmpi::transport::RdmaDevice*
zipmpi_ucx_open_direct_2(const char*, std::string& why) {
    auto* const device = new StubDevice;
    return device->start(why) ? device : nullptr;
}
