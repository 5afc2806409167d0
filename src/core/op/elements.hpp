// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Predefined reduction operations on two elements of a C++ type. The valid combinations follow the table in
// the MPI chapter on collectives.
#pragma once

#include "core/builtin.hpp"
#include "core/datatype/datatype.hpp"

#include <type_traits>

namespace zipmpi::core {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
inline constexpr bool is_logical = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_logical<Logical<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<Pair<A, B>> = true;
template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T> // the library does not count __float128
inline constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, Binary128>;
template <class T>
inline constexpr bool is_byte = std::is_same_v<T, std::byte>;

template <OpId op, class T>
inline constexpr bool defined = [] {
    switch (op) {
    case OpId::SUM:
    case OpId::PROD:
        return is_integer<T> || is_real<T> || is_complex<T>;
    case OpId::MIN:
    case OpId::MAX:
        return is_integer<T> || is_real<T>;
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
        return false; // REPLACE and NO_OP are valid for RMA only
    }
}();

template <class T>
inline bool truth(const T& v) {
    if constexpr (std::is_integral_v<T>)
        return v != 0;
    else
        return v.value != 0;
}
template <class T>
inline T from_truth(bool b) {
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
inline T combine(const T& a, const T& b) {
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

} // namespace zipmpi::core
