// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Stable sort of a vector. std::stable_sort of libstdc++ 12 calls a function deprecated since C++17; clang 19
// warns about it in every file that uses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace zipmpi {

// less(a, b) as for std::sort.
template <class T, class Less>
void stable_sort(std::vector<T>& list, Less less) {
    if (std::is_sorted(list.begin(), list.end(), less)) return;
    std::vector<size_t> order(list.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        if (less(list[a], list[b])) return true;
        return a < b && !less(list[b], list[a]);
    });
    std::vector<T> sorted;
    sorted.reserve(list.size());
    for (const size_t i : order) sorted.push_back(std::move(list[i]));
    list = std::move(sorted);
}

} // namespace zipmpi
