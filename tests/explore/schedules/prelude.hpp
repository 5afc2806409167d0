// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Included before every file of the code under test (-include): replaces std::atomic by a type that may
// switch threads at every operation and may delay stores that are not seq_cst, as a store buffer does (TSO).
// The standard headers come first for that reason.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace explore {

// May switch to another thread, unless this atomic is excluded.
void point(const void* atomic = nullptr);
uint64_t load(const void* address, size_t bytes); // sees the thread's own store buffer
void store(void* address, uint64_t value, size_t bytes, bool at_once);
void drain_own(); // makes the thread's own store buffer visible

template <class T>
class Atomic {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    static constexpr auto seq_cst = std::memory_order_seq_cst;

  public:
    static constexpr bool is_always_lock_free = true;
    constexpr Atomic() noexcept
        : value_() {}
    constexpr Atomic(T v) noexcept // NOLINT(google-explicit-constructor): as in the standard
        : value_(v) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;
    T load(std::memory_order /*order*/ = seq_cst) const noexcept {
        point(this);
        return get();
    }
    void store(T v, std::memory_order order = seq_cst) noexcept {
        point(this);
        put(v, order == seq_cst);
    }
    T exchange(T v, std::memory_order /*order*/ = seq_cst) noexcept {
        return change([&](T /*old*/) { return v; });
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order /*order*/ = seq_cst,
                                 std::memory_order /*order*/ = seq_cst) noexcept {
        point(this);
        drain_own();
        const T now = get();
        if (std::memcmp(&now, &expected, sizeof now) != 0) {
            expected = now;
            return false;
        }
        put(v, true);
        return true;
    }
    bool compare_exchange_weak(T& expected, T v, std::memory_order order = seq_cst,
                               std::memory_order failure = seq_cst) noexcept {
        return compare_exchange_strong(expected, v, order, failure);
    }
    T fetch_add(T v, std::memory_order /*order*/ = seq_cst) noexcept {
        return change([&](T old) { return static_cast<T>(old + v); });
    }
    T fetch_sub(T v, std::memory_order /*order*/ = seq_cst) noexcept {
        return change([&](T old) { return static_cast<T>(old - v); });
    }
    T fetch_or(T v, std::memory_order /*order*/ = seq_cst) noexcept {
        return change([&](T old) { return static_cast<T>(old | v); });
    }
    T fetch_and(T v, std::memory_order /*order*/ = seq_cst) noexcept {
        return change([&](T old) { return static_cast<T>(old & v); });
    }
    operator T() const noexcept { return load(); } // NOLINT(google-explicit-constructor)
    T operator=(T v) noexcept {                    // NOLINT(misc-unconventional-assign-operator)
        store(v);
        return v;
    }
    T operator++() noexcept { return static_cast<T>(fetch_add(1) + 1); }

  private:
    T get() const noexcept {
        const uint64_t bits = explore::load(&value_, sizeof(T));
        T v{};
        std::memcpy(&v, &bits, sizeof v);
        return v;
    }
    void put(T v, bool at_once) noexcept {
        uint64_t bits = 0;
        std::memcpy(&bits, &v, sizeof v);
        explore::store(&value_, bits, sizeof v, at_once);
    }
    template <class F>
    T change(const F& f) noexcept {
        point(this);
        drain_own();
        const T old = get();
        put(f(old), true);
        return old;
    }
    T value_;
};

} // namespace explore

namespace std { // NOLINT(cert-dcl58-cpp): std::atomic becomes the replacement
template <class T>
using explored_atomic = explore::Atomic<T>;
} // namespace std
#define atomic explored_atomic
