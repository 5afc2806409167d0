// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on elements that other processes update concurrently, by atomic CPU instructions.
#include "core/op/dispatch.hpp"
#include "core/op/elements.hpp"
#include "core/op/op.hpp"

#include <atomic>
#include <cstring>

namespace zipmpi::core {
namespace {

constexpr auto relaxed = std::memory_order_relaxed; // the synchronization of the window provides ordering

template <OpId op, class T>
T atomic_apply(std::atomic_ref<T> at, T value) {
    if constexpr (op == OpId::NO_OP) {
        return at.load(relaxed);
    } else if constexpr (op == OpId::REPLACE) {
        return at.exchange(value, relaxed);
    } else if constexpr (op == OpId::SUM) {
        return at.fetch_add(value, relaxed);
    } else if constexpr (op == OpId::BAND) {
        return at.fetch_and(value, relaxed);
    } else if constexpr (op == OpId::BOR) {
        return at.fetch_or(value, relaxed);
    } else if constexpr (op == OpId::BXOR) {
        return at.fetch_xor(value, relaxed);
    } else {
        T now = at.load(relaxed);
        while (!at.compare_exchange_weak(now, combine<op, T>(value, now), relaxed)) {
        }
        return now;
    }
}

template <OpId op, class T>
void atomic_kernel(const void* in, void* inout, void* fetched, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        const size_t at = static_cast<size_t>(i) * sizeof(T); // in and fetched need not be aligned
        T value{};
        if constexpr (op != OpId::NO_OP) std::memcpy(&value, static_cast<const char*>(in) + at, sizeof(T));
        const std::atomic_ref<T> element(static_cast<T*>(inout)[i]);
        if (op == OpId::REPLACE && fetched == nullptr) {
            element.store(value, relaxed);
            continue;
        }
        const T before = atomic_apply<op, T>(element, value);
        if (fetched != nullptr) std::memcpy(static_cast<char*>(fetched) + at, &before, sizeof(T));
    }
}

template <OpId op, class T>
AtomicKernel choose() {
    if constexpr (is_integer<T> && (sizeof(T) == 4 || sizeof(T) == 8))
        if constexpr (defined<op, T> || op == OpId::REPLACE || op == OpId::NO_OP) return atomic_kernel<op, T>;
    return nullptr;
}

struct ChooseAtomic {
    template <OpId op, class T>
    static AtomicKernel of() {
        return choose<op, T>();
    }
};

} // namespace

AtomicKernel atomic_kernel_of(OpId op, TypeId type) noexcept {
    return choose_by_op_and_type<AtomicKernel, ChooseAtomic>(op, type);
}

} // namespace zipmpi::core
