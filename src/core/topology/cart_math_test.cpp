// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/topology/cart_math.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace zipmpi::core {
namespace {

int spread(const std::vector<int>& factors) { return factors.front() - factors.back(); }

// By exhaustive search.
int least_spread(int n, int count, std::vector<int>& chosen) {
    if (static_cast<int>(chosen.size()) == count)
        return n == 1 ? *std::max_element(chosen.begin(), chosen.end()) -
                            *std::min_element(chosen.begin(), chosen.end())
                      : 1 << 30;
    int best = 1 << 30;
    for (int d = 1; d <= n; ++d) {
        if (n % d != 0) continue;
        chosen.push_back(d);
        best = std::min(best, least_spread(n / d, count, chosen));
        chosen.pop_back();
    }
    return best;
}

TEST(CartMath, FactorsAreBalanced) {
    for (int count = 1; count <= 4; ++count)
        for (int n = 1; n <= 400; ++n) {
            const std::vector<int> factors = balanced_factors(n, count);
            int product = 1;
            for (const int f : factors) product *= f;
            ASSERT_EQ(product, n);
            ASSERT_TRUE(std::is_sorted(factors.rbegin(), factors.rend()));
            std::vector<int> chosen;
            ASSERT_EQ(spread(factors), least_spread(n, count, chosen)) << n << " in " << count;
        }
}

TEST(CartMath, FactorsLargeNumbersQuickly) {
    EXPECT_EQ(balanced_factors(2147483647, 3), (std::vector<int>{2147483647, 1, 1})); // a prime
    EXPECT_EQ(balanced_factors(1 << 30, 10), std::vector<int>(10, 8));
    EXPECT_LE(spread(balanced_factors(735134400, 8)), 10);
    EXPECT_LE(spread(balanced_factors(2095133040, 6)), 40); // 1600 divisors
}

TEST(CartMath, RanksAndCoordinatesAgree) {
    Cart cart{{3, 4, 2}, {false, true, false}, {}};
    for (int r = 0; r < size_of(cart); ++r) EXPECT_EQ(rank_at(cart, coords_of(cart, r)), r);
    EXPECT_EQ(coords_of(cart, 23), (std::vector<int>{2, 3, 1}));
}

TEST(CartMath, ShiftsEndAtEdgesOrWrapAround) {
    const Cart cart{{3, 4}, {false, true}, {}};
    EXPECT_EQ(shifted(cart, {0, 0}, 0, -1), proc_null);
    EXPECT_EQ(shifted(cart, {0, 0}, 0, 2), 8);
    EXPECT_EQ(shifted(cart, {0, 0}, 1, -1), 3);
    EXPECT_EQ(shifted(cart, {0, 1}, 1, int64_t{4} * 1000000007), 1);
    EXPECT_EQ(shifted(cart, {1, 0}, 0, int64_t{1} << 31), proc_null);
}

} // namespace
} // namespace zipmpi::core
