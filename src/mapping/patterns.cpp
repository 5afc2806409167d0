// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mapping/patterns.hpp"

#include "base/stable_sort.hpp"
#include "mapping/random.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>
#include <utility>

namespace zipmpi::mapping {
namespace {

constexpr uint64_t rounds = 100;
constexpr uint64_t long_message = 16384;
constexpr uint64_t most_ranks = 65536;

void add_exchange(Matrix& m, uint32_t a, uint32_t b, uint64_t messages, uint64_t bytes_each) {
    if (a == b) return;
    m.pairs.push_back({a, b, messages, messages * bytes_each, 0, 0});
    m.pairs.push_back({b, a, messages, messages * bytes_each, 0, 0});
}

// Sorts the pairs and merges duplicates, as in matrices written by the library.
Matrix& normalize(Matrix& m) {
    stable_sort(m.pairs, [](const Traffic& x, const Traffic& y) {
        return std::pair(x.from, x.to) < std::pair(y.from, y.to);
    });
    std::vector<Traffic> merged;
    for (const Traffic& t : m.pairs) {
        if (merged.empty() || merged.back().from != t.from || merged.back().to != t.to) {
            merged.push_back(t);
            continue;
        }
        merged.back().messages += t.messages;
        merged.back().bytes += t.bytes;
    }
    m.pairs = std::move(merged);
    return m;
}

// Calls visit(a, b) for ranks that are `step` apart in one dimension of the grid, without wraparound.
template <class Visit>
void visit_neighbors(const std::vector<uint32_t>& grid, uint32_t step, Visit visit) {
    const uint32_t size = std::accumulate(grid.begin(), grid.end(), 1U, std::multiplies<>());
    uint32_t stride = size;
    for (const uint32_t extent : grid) { // the last dimension varies fastest
        stride /= extent;
        for (uint32_t r = 0; r < size; ++r)
            if (r / stride % extent + step < extent && r / stride % extent % step == 0)
                visit(r, r + step * stride);
    }
}

std::vector<uint32_t> grid_of(uint32_t ranks, uint32_t dimensions) { // of a power of two
    std::vector<uint32_t> grid(dimensions, 1);
    for (uint32_t d = 0; ranks > 1; d = (d + 1) % dimensions, ranks /= 2) grid[dimensions - 1 - d] *= 2;
    return grid;
}

bool parse_numbers(std::string_view text, char separator, std::vector<uint32_t>& out) {
    while (!text.empty()) {
        uint32_t n = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (error != std::errc() || n == 0 || n > most_ranks) return false;
        out.push_back(n);
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        if (text.empty()) return true;
        if (text.front() != separator) return false;
        text.remove_prefix(1);
    }
    return false;
}

} // namespace

Matrix halo(const std::vector<uint32_t>& grid) {
    Matrix m{std::accumulate(grid.begin(), grid.end(), 1U, std::multiplies<>()), {}};
    visit_neighbors(grid, 1, [&](uint32_t a, uint32_t b) { add_exchange(m, a, b, rounds, long_message); });
    return normalize(m);
}

// Rows of the process grid sum vectors by recursive doubling; for each sum every process exchanges one vector
// with its transpose partner.
Matrix cg(uint32_t ranks) {
    Matrix m{ranks, {}};
    const uint32_t columns = 1U << (static_cast<uint32_t>(std::bit_width(ranks)) / 2);
    const uint32_t rows = ranks / columns;
    for (uint32_t r = 0; r < ranks; ++r) {
        for (uint32_t bit = 1; bit < columns; bit *= 2)
            if ((r & bit) == 0) add_exchange(m, r, r | bit, 3 * rounds, long_message);
        // A grid that is twice as wide as high is treated as a square grid of pairs.
        const uint32_t wide = columns / rows;
        const uint32_t square = r / wide;
        const uint32_t mirror = (square % rows * rows + square / rows) * wide + r % wide;
        if (mirror > r) add_exchange(m, r, mirror, rounds, long_message);
    }
    return normalize(m);
}

Matrix mg(uint32_t ranks) {
    Matrix m{ranks, {}};
    const std::vector<uint32_t> grid = grid_of(ranks, 3);
    uint64_t bytes = long_message * 4;
    for (uint32_t step = 1; step <= *std::max_element(grid.begin(), grid.end()); step *= 2, bytes /= 4)
        visit_neighbors(grid, step, [&](uint32_t a, uint32_t b) { add_exchange(m, a, b, rounds, bytes); });
    return normalize(m);
}

Matrix lu(uint32_t ranks) {
    Matrix m{ranks, {}};
    visit_neighbors(grid_of(ranks, 2), 1,
                    [&](uint32_t a, uint32_t b) { add_exchange(m, a, b, 20 * rounds, 640); });
    return normalize(m);
}

Matrix all_to_all(uint32_t ranks) {
    Matrix m{ranks, {}};
    for (uint32_t a = 0; a < ranks; ++a)
        for (uint32_t b = a + 1; b < ranks; ++b) add_exchange(m, a, b, rounds, long_message);
    return normalize(m);
}

Matrix random_pairs(uint32_t ranks, uint32_t degree, uint64_t seed) {
    Matrix m{ranks, {}};
    Random random(seed);
    std::vector<uint32_t> order(ranks);
    std::iota(order.begin(), order.end(), 0U);
    for (uint32_t d = 0; d < degree; d += 2) { // a random ring adds two to the degree of every rank
        random.shuffle(order);
        for (uint32_t i = 0; i < ranks; ++i)
            add_exchange(m, order[i], order[(i + 1) % ranks], rounds, 1 + random.below(2 * long_message));
    }
    return normalize(m);
}

bool parse_pattern(std::string_view text, Matrix& out) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = text.substr(0, colon);
    const std::string_view rest = text.substr(colon + 1);
    std::vector<uint32_t> n;
    if (!parse_numbers(rest, name == "halo" ? 'x' : ':', n)) return false;
    if (name == "halo") {
        uint64_t size = 1;
        for (const uint32_t extent : n) size = std::min(size * extent, most_ranks + 1);
        if (size > most_ranks) return false;
        out = halo(n);
        return true;
    }
    if (name == "random" && n.size() == 3) {
        out = random_pairs(n[0], n[1], n[2]);
        return true;
    }
    if (n.size() != 1) return false;
    if (name == "ring") {
        out = {n[0], {}};
        for (uint32_t r = 0; r < n[0]; ++r) add_exchange(out, r, (r + 1) % n[0], rounds, long_message);
        normalize(out);
        return true;
    }
    if (name == "all" && n[0] <= 4096) {
        out = all_to_all(n[0]);
        return true;
    }
    const bool power = std::has_single_bit(n[0]);
    if (name == "cg" && power) out = cg(n[0]);
    if (name == "mg" && power) out = mg(n[0]);
    if (name == "lu" && power) out = lu(n[0]);
    return power && (name == "cg" || name == "mg" || name == "lu");
}

} // namespace zipmpi::mapping
