// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology/cart_math.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace zipmpi::core {
namespace {

std::vector<int> divisors_of(int n) {
    std::vector<int> divisors;
    for (int64_t d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        divisors.push_back(static_cast<int>(d));
        if (d * d != n) divisors.push_back(static_cast<int>(n / d));
    }
    std::sort(divisors.begin(), divisors.end());
    return divisors;
}

// Searches descending factors with the smallest difference between the largest and the smallest. Numbers have
// few divisors, and bounds prune the search.
class FactorSearch {
  public:
    FactorSearch(int n, int count)
        : divisors_(divisors_of(n))
        , chosen_(static_cast<size_t>(count), 1) {
        run(0, n, n);
    }
    std::vector<int> take_result() { return std::move(best_); }

  private:
    [[nodiscard]] static int64_t power(int64_t base, size_t exponent, int64_t limit) {
        int64_t result = 1;
        while (exponent-- > 0 && result < limit) result *= base;
        return result;
    }
    // Among equal spreads, larger small factors are better balanced.
    [[nodiscard]] bool is_better() const {
        if (best_.empty()) return true;
        const int spread = chosen_.front() - chosen_.back();
        const int best_spread = best_.front() - best_.back();
        return spread != best_spread ? spread < best_spread
                                     : std::lexicographical_compare(best_.rbegin(), best_.rend(),
                                                                    chosen_.rbegin(), chosen_.rend());
    }
    // True if no factorization of the rest brings the smallest factor close enough to the largest.
    [[nodiscard]] bool cannot_improve(int largest, int rest, size_t left) const {
        return !best_.empty() && largest - root_of(rest, left) > best_.front() - best_.back();
    }
    void run(size_t at, int rest, int limit) {
        const size_t left = chosen_.size() - at;
        if (at > 0 && cannot_improve(chosen_.front(), rest, left)) return;
        if (left == 1) {
            if (rest > limit) return;
            chosen_[at] = rest;
            if (is_better()) best_ = chosen_;
            return;
        }
        for (const int d : divisors_) {
            if (d > limit || d > rest) break;
            if (rest % d != 0 || power(d, left, rest) < rest) continue;  // later ones would be larger
            if (at == 0 && cannot_improve(d, rest / d, left - 1)) break; // larger ones are worse
            chosen_[at] = d;
            run(at + 1, rest / d, d);
        }
    }
    // Upper bound of the smallest of `count` factors of n.
    [[nodiscard]] static int root_of(int n, size_t count) {
        auto root = static_cast<int>(std::pow(n, 1.0 / static_cast<double>(count)));
        while (power(int64_t{root} + 1, count, int64_t{n} + 1) <= n) ++root; // correct rounding errors
        return root;
    }
    std::vector<int> divisors_;
    std::vector<int> chosen_;
    std::vector<int> best_;
};

} // namespace

int size_of(const Cart& cart) {
    int size = 1;
    for (const int d : cart.dims) size *= d;
    return size;
}

int rank_at(const Cart& cart, const std::vector<int>& coords) {
    int rank = 0;
    for (size_t i = 0; i < cart.dims.size(); ++i) rank = rank * cart.dims[i] + coords[i];
    return rank;
}

std::vector<int> coords_of(const Cart& cart, int rank) {
    std::vector<int> coords(cart.dims.size());
    for (size_t i = cart.dims.size(); i-- > 0; rank /= cart.dims[i]) coords[i] = rank % cart.dims[i];
    return coords;
}

int shifted(const Cart& cart, const std::vector<int>& coords, int dimension, int64_t steps) {
    const auto d = static_cast<size_t>(dimension);
    int64_t at = coords[d] + steps;
    const int64_t extent = cart.dims[d];
    if (cart.periods[d])
        at = ((at % extent) + extent) % extent;
    else if (at < 0 || at >= extent)
        return proc_null;
    std::vector<int> there = coords;
    there[d] = static_cast<int>(at);
    return rank_at(cart, there);
}

std::vector<int> balanced_factors(int n, int count) {
    if (count == 0) return {};
    return FactorSearch(n, count).take_result();
}

} // namespace zipmpi::core
