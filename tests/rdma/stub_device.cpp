// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A module that emulates a network device (transport/rdma_device.hpp), for tests on machines without one:
// the parameter rma.rdma_module names it. A thread in each process is the device: it serves a socket and uses
// no MPI. Like a device it
//   - delays operations: data are read from the origin's memory as late as possible
//   - sends no answer to a put; a flush is a message of its own, sent when the origin asks for it
//   - executes the operations of a connection in order, and those of different connections in any order
//   - has atomics that are atomic among themselves, but not with respect to the target's CPUs
//   - rejects accesses to memory that was not exposed
//
// Environment
//   STUB_SEED     operations wait at the target for pseudorandom times; 0 or missing: they do not
//   STUB_HOLD_US  the longest of these times, 300 us if missing
//   STUB_REPORT   file to which each device adds its largest number of flushes in flight
#include "transport/rdma_device.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <random>
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
using Clock = std::chrono::steady_clock;

enum class Kind : uint64_t { put, get, add, compare_swap, flush };

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

uint64_t setting(const char* name, uint64_t missing) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : missing;
}

// How long the operations that arrive at a device wait there.
class HoldTimes {
  public:
    HoldTimes()
        : longest_us_(setting("STUB_SEED", 0) != 0 ? setting("STUB_HOLD_US", 300) : 0)
        , random_(static_cast<uint32_t>(setting("STUB_SEED", 0) * 1000 + setting("PMI_RANK", 0))) {}
    std::chrono::microseconds next() {
        if (longest_us_ == 0 || random_() % 2 == 0) return std::chrono::microseconds(0);
        return std::chrono::microseconds(random_() % longest_us_);
    }

  private:
    uint64_t longest_us_;
    std::minstd_rand random_;
};

std::string path_of_socket; // removed at exit
size_t most_flushes;        // in flight at once

struct AtExit {
    ~AtExit() {
        if (!path_of_socket.empty()) unlink(path_of_socket.c_str());
        const char* const report = std::getenv("STUB_REPORT");
        if (report == nullptr || path_of_socket.empty()) return;
        const std::string line = std::to_string(most_flushes) + "\n";
        const int fd = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (write(fd, line.data(), line.size()) < 0) std::perror(report);
        close(fd);
    }
} at_exit;

// The device of this process as target: a thread.
class StubTarget {
  public:
    explicit StubTarget(int listener)
        : listener_(listener) {}

    uint64_t expose(void* at, size_t bytes) {
        const std::lock_guard guard(mutex_);
        exposed_[++keys_] = {reinterpret_cast<uint64_t>(at), bytes};
        return keys_;
    }
    void withdraw(uint64_t key) {
        const std::lock_guard guard(mutex_);
        exposed_.erase(key);
    }
    void serve() {
        while (wait()) {
            for (Connection& c : connections_) c.valid = c.valid && advance(c);
            std::erase_if(connections_, [](const Connection& c) { return !c.valid && close(c.fd) == 0; });
        }
    }

  private:
    struct Held {
        Request order;
        std::vector<char> data; // of a put
        Clock::time_point due;
    };
    struct Connection {
        int fd;
        bool valid = true;
        std::deque<Held> held{};
        std::vector<char> answers{}; // not sent yet: the thread never waits for an origin to read
    };
    struct Range {
        uint64_t at;
        uint64_t bytes;
    };

    // Until something can be read, sent, or is due; then accepts connections and reads requests.
    bool wait() {
        std::vector<pollfd> fds{{listener_, POLLIN, 0}};
        Clock::time_point first = Clock::time_point::max();
        for (const Connection& c : connections_) {
            fds.push_back({c.fd, static_cast<short>(c.answers.empty() ? POLLIN : POLLIN | POLLOUT), 0});
            if (!c.held.empty()) first = std::min(first, c.held.front().due);
        }
        const auto left = std::max(first - Clock::now(), Clock::duration::zero());
        const timespec limit{0, std::chrono::nanoseconds(left).count() % 1'000'000'000};
        if (ppoll(fds.data(), fds.size(), first == Clock::time_point::max() ? nullptr : &limit, nullptr) < 0)
            return errno == EINTR;
        for (size_t i = 1; i < fds.size(); ++i)
            if ((fds[i].revents & ~POLLOUT) != 0) connections_[i - 1].valid = receive(connections_[i - 1]);
        if (fds[0].revents != 0) connections_.push_back({accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)});
        return true;
    }
    bool receive(Connection& c) {
        Held held{};
        if (!receive_all(c.fd, &held.order, sizeof held.order)) return false;
        held.data.resize(held.order.kind == Kind::put ? held.order.bytes : 0);
        held.due = Clock::now() + hold_times_.next();
        c.held.push_back(std::move(held));
        return receive_all(c.fd, c.held.back().data.data(), c.held.back().data.size());
    }
    // Executes what is due, in order, and sends the answers.
    bool advance(Connection& c) {
        for (; !c.held.empty() && c.held.front().due <= Clock::now(); c.held.pop_front())
            if (!execute(c.held.front(), c.answers)) return false;
        while (!c.answers.empty()) {
            const ssize_t n = send(c.fd, c.answers.data(), c.answers.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n <= 0) return errno == EAGAIN;
            c.answers.erase(c.answers.begin(), c.answers.begin() + n);
        }
        return true;
    }
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
    bool execute(const Held& held, std::vector<char>& answers) {
        const Request& o = held.order;
        if (o.kind != Kind::flush && !is_exposed(o)) return false;
        auto* const memory = reinterpret_cast<char*>(o.address);
        uint64_t before = 0;
        if (o.kind == Kind::put) {
            std::memcpy(memory, held.data.data(), held.data.size());
        } else if (o.kind == Kind::get) {
            answers.insert(answers.end(), memory, memory + o.bytes);
        } else {
            if (o.kind != Kind::flush) change(o, before);
            const auto* const at = reinterpret_cast<const char*>(&before);
            answers.insert(answers.end(), at, at + sizeof before);
        }
        return true;
    }

    int listener_;
    std::deque<Connection> connections_;
    HoldTimes hold_times_;
    uint64_t changes_ = 0;
    std::mutex mutex_; // guards what follows
    uint64_t keys_ = 0;
    std::map<uint64_t, Range> exposed_;
};

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
        if (!e.waiting.empty() || !e.issued.empty()) {
            const bool begins = e.waiting.empty() && e.unflushed && !e.failed;
            if (begins) begin_flush(e);
            return false;
        }
        if (!e.unflushed) return true;
        begin_flush(e);
        return false;
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
zipmpi_ucx_open_direct_2(const char*, std::string& why) {
    auto* const device = new StubDevice;
    return device->start(why) ? device : nullptr;
}
