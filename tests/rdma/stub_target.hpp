// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Target side of the emulated device (stub_device.cpp): a thread that executes the requests of all origins.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <poll.h>
#include <random>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace stub {

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

inline bool send_all(int fd, const void* data, size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    for (ssize_t n = 0; bytes > 0; at += n, bytes -= static_cast<size_t>(n))
        if (n = send(fd, at, bytes, MSG_NOSIGNAL); n <= 0) return false;
    return true;
}

inline bool receive_all(int fd, void* data, size_t bytes) {
    auto* at = static_cast<char*>(data);
    for (ssize_t n = 0; bytes > 0; at += n, bytes -= static_cast<size_t>(n))
        if (n = recv(fd, at, bytes, 0); n <= 0) return false;
    return true;
}

inline uint64_t setting(const char* name, uint64_t missing) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : missing;
}

inline bool puts_are_overtaken() { return std::getenv("STUB_ORDER") != nullptr; }

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
        bool done = false;
        std::vector<char> answer{};
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
            for (const Held& held : c.held)
                if (!held.done) first = std::min(first, held.due);
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
    // What a device permits; a flush waits for all that is before it.
    [[nodiscard]] bool may_overtake(const Held& earlier, const Held& later) const {
        if (earlier.done) return true;
        if (later.order.kind == Kind::flush) return false;
        return earlier.order.kind == Kind::get || (earlier.order.kind == Kind::put && overtakes_);
    }
    // The first operation that may be executed now, or null.
    [[nodiscard]] Held* next_of(Connection& c) const {
        for (auto later = c.held.begin(); later != c.held.end(); ++later) {
            const auto is_free = [&](const Held& earlier) { return may_overtake(earlier, *later); };
            if (!std::all_of(c.held.begin(), later, is_free)) continue;
            if (!later->done && later->due <= Clock::now()) return &*later;
        }
        return nullptr;
    }
    // Executes what is due and sends the answers, in the order of the operations.
    bool advance(Connection& c) {
        for (Held* held = next_of(c); held != nullptr; held = next_of(c))
            if (!execute(*held)) return false;
        for (; !c.held.empty() && c.held.front().done; c.held.pop_front())
            c.answers.insert(c.answers.end(), c.held.front().answer.begin(), c.held.front().answer.end());
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
    bool execute(Held& held) {
        const Request& o = held.order;
        if (o.kind != Kind::flush && !is_exposed(o)) return false;
        auto* const memory = reinterpret_cast<char*>(o.address);
        uint64_t before = 0;
        held.done = true;
        if (o.kind == Kind::put) {
            std::memcpy(memory, held.data.data(), held.data.size());
        } else if (o.kind == Kind::get) {
            held.answer.assign(memory, memory + o.bytes);
        } else {
            if (o.kind != Kind::flush) change(o, before);
            const auto* const at = reinterpret_cast<const char*>(&before);
            held.answer.assign(at, at + sizeof before);
        }
        return true;
    }

    int listener_;
    std::deque<Connection> connections_;
    HoldTimes hold_times_;
    bool overtakes_ = puts_are_overtaken();
    uint64_t changes_ = 0;
    std::mutex mutex_; // guards what follows
    uint64_t keys_ = 0;
    std::map<uint64_t, Range> exposed_;
};

} // namespace stub
