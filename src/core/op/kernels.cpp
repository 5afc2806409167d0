// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which operation works on which kind of type follows the table in the standard's chapter on reductions.
#include "core/datatype/datatype.hpp"
#include "core/op/op.hpp"

#include <type_traits>

namespace zipmpi::core {
namespace {

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;
template <class T>
constexpr bool is_logical = std::is_same_v<T, bool>;
template <class T>
constexpr bool is_logical<Logical<T>> = true;
template <class T>
constexpr bool is_pair = false;
template <class A, class B>
constexpr bool is_pair<Pair<A, B>> = true;
template <class T>
constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
constexpr bool is_byte = std::is_same_v<T, std::byte>;

template <OpId op, class T>
constexpr bool defined = [] {
    switch (op) {
    case OpId::SUM:
    case OpId::PROD:
        return is_integer<T> || std::is_floating_point_v<T> || is_complex<T>;
    case OpId::MIN:
    case OpId::MAX:
        return is_integer<T> || std::is_floating_point_v<T>;
    case OpId::BAND:
    case OpId::BOR:
    case OpId::BXOR:
        return is_integer<T> || is_byte<T>;
    case OpId::LAND:
    case OpId::LOR:
    case OpId::LXOR:
        return is_integer<T> || is_logical<T>;
    case OpId::MINLOC:
    case OpId::MAXLOC:
        return is_pair<T>;
    default:
        return false; // REPLACE and NO_OP belong to one-sided communication
    }
}();

template <class T>
bool truth(const T& v) {
    if constexpr (std::is_integral_v<T>)
        return v != 0;
    else
        return v.value != 0;
}
template <class T>
T from_truth(bool b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(b);
    else
        return T{static_cast<decltype(T::value)>(b)};
}

// Signed overflow wraps instead of being undefined.
template <class T>
using Wrapping =
    typename std::conditional_t<is_integer<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <OpId op, class T>
T combine(const T& a, const T& b) {
    if constexpr (op == OpId::SUM)
        return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    if constexpr (op == OpId::PROD) {
        if constexpr (is_integer<T>) // promoted to at least unsigned: two large shorts would overflow an int
            return static_cast<T>(1U * static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
        else
            return a * b;
    }
    if constexpr (op == OpId::MIN) return b < a ? b : a;
    if constexpr (op == OpId::MAX) return a < b ? b : a;
    if constexpr (op == OpId::BAND) return static_cast<T>(a & b);
    if constexpr (op == OpId::BOR) return static_cast<T>(a | b);
    if constexpr (op == OpId::BXOR) return static_cast<T>(a ^ b);
    if constexpr (op == OpId::LAND) return from_truth<T>(truth(a) && truth(b));
    if constexpr (op == OpId::LOR) return from_truth<T>(truth(a) || truth(b));
    if constexpr (op == OpId::LXOR) return from_truth<T>(truth(a) != truth(b));
    if constexpr (op == OpId::MINLOC || op == OpId::MAXLOC) {
        if (a.value == b.value) return a.index < b.index ? a : b; // equal values: the lower index
        return (a.value < b.value) == (op == OpId::MINLOC) ? a : b;
    }
}

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

// The same for CPUs with wider vectors than every CPU of the architecture has. Results are bitwise the same:
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

template <OpId op>
Kernel for_type(TypeId type) {
    switch (type) {
#define ZIPMPI_X(id, name, ctype)                                                                            \
    case TypeId::id:                                                                                         \
        return choose<op, typename Argument<void ctype>::type>();
        ZIPMPI_BUILTIN_TYPES(ZIPMPI_X)
#undef ZIPMPI_X
    case TypeId::count_:
        break;
    }
    return nullptr;
}

} // namespace

Kernel kernel_of(OpId op, TypeId type) noexcept {
    switch (op) {
#define ZIPMPI_X(id, name)                                                                                   \
    case OpId::id:                                                                                           \
        return for_type<OpId::id>(type);
        ZIPMPI_BUILTIN_OPS(ZIPMPI_X)
#undef ZIPMPI_X
    case OpId::count_:
        break;
    }
    return nullptr;
}

} // namespace zipmpi::core
