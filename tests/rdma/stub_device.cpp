// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A module that emulates a network device (transport/rdma_device.hpp), for tests on machines without one:
// the parameter rma.rdma_module names it. A thread in each process is the device: it serves a socket and uses
// no MPI. Like a device it
//   - delays operations: data are read from the origin's memory as late as possible
//   - sends no answer to a put; a flush is a message of its own, sent when the origin asks for it
//   - executes the operations of a connection in order, but may execute those behind a get before it, and
//     those of different connections in any order
//   - has atomics that are atomic among themselves, but not with respect to the target's CPUs
//   - rejects accesses to memory that was not exposed
//
// Environment
//   STUB_SEED     operations wait at the target for pseudorandom times; 0 or missing: they do not
//   STUB_HOLD_US  the longest of these times, 300 us if missing
//   STUB_ORDER    none: later operations overtake puts on their connection. claimed: the same, but the device
//                 says that it keeps the order
//   STUB_REPORT   file to which each device adds a line: its largest number of flushes in flight, and the
//                 number of its atomic additions
#include "stub_target.hpp"
#include "transport/rdma_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace {

using zipmpi::transport::MemoryRegion;
using zipmpi::transport::RemoteAddress;
using zipmpi::transport::RemoteKey;

using stub::Kind;
using stub::puts_are_overtaken;
using stub::receive_all;
using stub::Request;
using stub::send_all;
using stub::StubTarget;

std::string path_of_socket; // removed at exit
size_t most_flushes;        // in flight at once
size_t additions;

struct AtExit {
    ~AtExit() {
        if (!path_of_socket.empty()) unlink(path_of_socket.c_str());
        const char* const report = std::getenv("STUB_REPORT");
        if (report == nullptr || path_of_socket.empty()) return;
        const std::string line = std::to_string(most_flushes) + " " + std::to_string(additions) + "\n";
        const int fd = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (write(fd, line.data(), line.size()) < 0) std::perror(report);
        close(fd);
    }
} at_exit;

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
        const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        path_of_socket = name;
        if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            listen(listener, 64) != 0)
            return (why = name, false);
        target_ = new StubTarget(listener); // until the process ends
        std::thread([target = target_] { target->serve(); }).detach();
        return true;
    }

    [[nodiscard]] const std::string& name() const override { return path_of_socket; }
    [[nodiscard]] bool is_coherent() const override { return false; }
    [[nodiscard]] bool keeps_order() const override {
        return !puts_are_overtaken() || std::strcmp(std::getenv("STUB_ORDER"), "claimed") == 0;
    }
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
        const uint64_t key = target_->expose(at, bytes);
        exposed.handle = reinterpret_cast<void*>(key);
        exposed.key.assign(reinterpret_cast<const char*>(&key), sizeof key);
        return true;
    }
    void deregister_memory(MemoryRegion& exposed) override {
        target_->withdraw(reinterpret_cast<uint64_t>(exposed.handle));
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
        ++additions;
        add(end, {{Kind::add, there.address, 8, there.key, value, 0}, before});
    }
    void swap(int end, uint64_t, uint64_t*, const RemoteAddress&) override {
        fail(ends_[static_cast<size_t>(end)]); // not used by windows
    }
    void compare_swap(int end, uint64_t compare, uint64_t value, uint64_t* before,
                      const RemoteAddress& there) override {
        add(end, {{Kind::compare_swap, there.address, 8, there.key, value, compare}, before});
    }
    // Issues one operation per endpoint, and reads the answers that have arrived.
    void progress() override {
        for (StubEndpoint& e : ends_) {
            if (!e.waiting.empty()) issue(e);
            char first = 0;
            while (!e.issued.empty() && recv(e.fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) {
                const Pending p = e.issued.front();
                if (!receive_all(e.fd, p.here, p.order.bytes)) {
                    fail(e);
                    break;
                }
                e.issued.pop_front();
                flushes_ -= p.order.kind == Kind::flush ? 1 : 0;
            }
        }
    }
    bool flushed(int end) override {
        StubEndpoint& e = ends_[static_cast<size_t>(end)];
        if (e.waiting.empty() && e.unflushed) begin_flush(e);
        return e.waiting.empty() && e.issued.empty();
    }
    [[nodiscard]] bool failed(int end) const override { return ends_[static_cast<size_t>(end)].failed; }

  private:
    struct Pending {
        Request order;
        void* here;
    };
    struct StubEndpoint {
        int fd = -1;
        bool failed = false;
        bool unflushed = false; // operations were issued since the last flush
        uint64_t flush_answer = 0;
        std::deque<Pending> waiting; // not issued
        std::deque<Pending> issued;  // without an answer; puts have none
    };

    void add(int end, const Pending& pending) {
        StubEndpoint& e = ends_[static_cast<size_t>(end)];
        if (pending.order.bytes != 0 && !e.failed) e.waiting.push_back(pending);
    }
    void issue(StubEndpoint& e) {
        const Pending p = e.waiting.front();
        e.waiting.pop_front();
        const bool puts = p.order.kind == Kind::put;
        if (!send_all(e.fd, &p.order, sizeof p.order) || (puts && !send_all(e.fd, p.here, p.order.bytes)))
            return fail(e);
        e.unflushed = p.order.kind != Kind::flush;
        if (!puts) e.issued.push_back(p);
    }
    void begin_flush(StubEndpoint& e) {
        e.waiting.push_back({{Kind::flush, 0, sizeof e.flush_answer, 0, 0, 0}, &e.flush_answer});
        issue(e);
        most_flushes = std::max(most_flushes, ++flushes_);
    }
    void fail(StubEndpoint& e) {
        e.failed = true;
        e.unflushed = false;
        for (const Pending& p : e.issued) flushes_ -= p.order.kind == Kind::flush ? 1 : 0;
        e.waiting.clear();
        e.issued.clear();
    }

    StubTarget* target_ = nullptr;
    std::deque<StubEndpoint> ends_;
    size_t flushes_ = 0; // in flight
};

} // namespace

extern "C" [[gnu::visibility("default")]] zipmpi::transport::RdmaDevice*
zipmpi_ucx_open_direct_3(const char*, std::string& why) {
    auto* const device = new StubDevice;
    return device->start(why) ? device : nullptr;
}
