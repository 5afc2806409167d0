// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Reduction kernels on arrays.
#include "core/op/dispatch.hpp"
#include "core/op/elements.hpp"
#include "core/op/op.hpp"

namespace zipmpi::core {
namespace {

template <OpId op, class T>
[[gnu::always_inline]] inline void combine_all(const void* in, void* inout, int64_t count) {
    const T* __restrict a = static_cast<const T*>(in);
    T* __restrict b = static_cast<T*>(inout);
    for (int64_t i = 0; i < count; ++i) b[i] = combine<op, T>(a[i], b[i]);
}

template <OpId op, class T>
void kernel(const void* in, void* inout, int64_t count) {
    combine_all<op, T>(in, inout, count);
}

// Variants for CPUs with wider vectors than the baseline of the architecture. Results are bitwise equal:
// there is one operation per element, so nothing can be contracted.
#if defined(__x86_64__)
template <OpId op, class T>
[[gnu::target("avx2")]] void wide_kernel(const void* in, void* inout, int64_t count) {
    combine_all<op, T>(in, inout, count);
}
template <class T>
constexpr bool gains_from_width =
    is_integer<T> || is_byte<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;
bool has_wide_vectors() {
    static const bool has = __builtin_cpu_supports("avx2") != 0;
    return has;
}
#endif

template <OpId op, class T>
Kernel choose() {
    if constexpr (!defined<op, T>) {
        return nullptr;
    } else {
#if defined(__x86_64__)
        if constexpr (gains_from_width<T>)
            if (has_wide_vectors()) return wide_kernel<op, T>;
#endif
        return kernel<op, T>;
    }
}

struct ChooseKernel {
    template <OpId op, class T>
    static Kernel of() {
        return choose<op, T>();
    }
};

} // namespace

Kernel kernel_of(OpId op, TypeId type) noexcept {
    return choose_by_op_and_type<Kernel, ChooseKernel>(op, type);
}

} // namespace zipmpi::core
