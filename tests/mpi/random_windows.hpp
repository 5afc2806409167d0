// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random one-sided operations for random_windows.cpp: element types with the effect of each operation,
// layouts, and the description of one operation.
#pragma once

#include "check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

using Random = std::mt19937_64;

enum Kind { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap, kinds };

inline uint64_t below(Random& random, uint64_t n) { return random() % n; }

// --- types: the effect of an operation on one element, as bytes
struct Type {
    MPI_Datatype handle;
    size_t bytes;
    bool integer;
    void (*combine)(MPI_Op op, const void* in, void* inout);
    void (*value)(Random& random, void* out);
};

template <class T>
void combine(MPI_Op op, const void* in, void* inout) {
    T a{}, b{};
    std::memcpy(&a, in, sizeof a);
    std::memcpy(&b, inout, sizeof b);
    T r = b;
    if constexpr (!std::is_integral_v<T>)
        if (op == MPI_SUM) r = static_cast<T>(a + b);
    if (op == MPI_MIN) r = std::min(a, b);
    if (op == MPI_MAX) r = std::max(a, b);
    if (op == MPI_REPLACE) r = a;
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        if (op == MPI_SUM) r = static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
        if (op == MPI_PROD) r = static_cast<T>(uint64_t{static_cast<U>(a)} * static_cast<U>(b));
        if (op == MPI_BAND) r = static_cast<T>(a & b);
        if (op == MPI_BOR) r = static_cast<T>(a | b);
        if (op == MPI_BXOR) r = static_cast<T>(a ^ b);
        if (op == MPI_LAND) r = static_cast<T>(a != 0 && b != 0);
    }
    std::memcpy(inout, &r, sizeof r);
}

template <class T>
void value(Random& random, void* out) { // sums of floating-point numbers stay exact
    T v{};
    if constexpr (std::is_integral_v<T>)
        v = static_cast<T>(random());
    else
        v = static_cast<T>(below(random, 4));
    std::memcpy(out, &v, sizeof v);
}

template <class T>
constexpr Type type(MPI_Datatype handle) {
    return {handle, sizeof(T), std::is_integral_v<T>, combine<T>, value<T>};
}
inline const Type types[] = {type<int8_t>(MPI_INT8_T),   type<uint16_t>(MPI_UINT16_T),
                             type<int32_t>(MPI_INT32_T), type<uint32_t>(MPI_UINT32_T),
                             type<int64_t>(MPI_INT64_T), type<uint64_t>(MPI_UINT64_T),
                             type<float>(MPI_FLOAT),     type<double>(MPI_DOUBLE)};
inline constexpr uint64_t integer_types = 6; // the first types are integers
inline const MPI_Op integer_ops[] = {MPI_SUM, MPI_MIN,  MPI_MAX,  MPI_PROD,    MPI_BAND,
                                     MPI_BOR, MPI_BXOR, MPI_LAND, MPI_REPLACE, MPI_NO_OP};
inline const MPI_Op other_ops[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_REPLACE, MPI_NO_OP};

// --- layouts: some of `room` element positions
struct Layout {
    std::vector<int> places;
    int form = 0; // 0: contiguous, 1: strided, 2: irregular

    Layout(Random& random, int room, int count) {
        form = count > 1 ? static_cast<int>(below(random, 3)) : 0;
        if (form == 1 && 2 * count > room) form = 0;
        int next = form == 2 ? 0 : static_cast<int>(below(random, 2));
        if (form != 2 && next + (form == 1 ? 2 : 1) * count > room) next = 0;
        int spare = room - count;
        for (int i = 0; i < count; ++i) {
            if (form == 2 && spare > 0) {
                const int skip = static_cast<int>(below(random, 2));
                next += skip;
                spare -= skip;
            }
            places.push_back(next);
            next += form == 1 ? 2 : 1;
        }
    }
    // Datatype, count and first position that describe the layout.
    MPI_Datatype make(MPI_Datatype element, int& count, int& first) const {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        count = 1;
        first = 0;
        const int n = static_cast<int>(places.size());
        if (form == 0) {
            count = n;
            first = places[0];
            return element;
        }
        if (form == 1) {
            first = places[0];
            MPI_Type_vector(n, 1, 2, element, &made);
        } else {
            MPI_Type_create_indexed_block(n, 1, places.data(), element, &made);
        }
        MPI_Type_commit(&made);
        return made;
    }
};

inline void drop(MPI_Datatype made, MPI_Datatype element) {
    if (made != element) MPI_Type_free(&made);
}

struct Step {
    Kind kind;
    int target;
    int slot; // slots: the shared one
    bool request;
    const Type* element;
    MPI_Op op;
    Layout there, here, result;
    std::vector<char> data; // packed; compare_and_swap: compare value, then new value
};
