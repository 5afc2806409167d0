// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Groups: every operation against a plain model on random lists, special forms, and wrong arguments.
#include "check.hpp"

#include <algorithm>
#include <random>

namespace {

using Ranks = std::vector<int>;

MPI_Group world;

MPI_Group make(const Ranks& ranks) {
    MPI_Group group = MPI_GROUP_NULL;
    CHECK(MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group) == MPI_SUCCESS);
    return group;
}

// The ranks in MPI_COMM_WORLD of a group's members; frees the group.
Ranks take(MPI_Group group) {
    int n = 0;
    MPI_Group_size(group, &n);
    Ranks own(static_cast<size_t>(n));
    Ranks there(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) own[static_cast<size_t>(i)] = i;
    CHECK(MPI_Group_translate_ranks(group, n, own.data(), world, there.data()) == MPI_SUCCESS);
    int rank = 0;
    MPI_Group_rank(group, &rank);
    const auto at = std::find(there.begin(), there.end(), rank_);
    CHECK(rank == (at == there.end() ? MPI_UNDEFINED : static_cast<int>(at - there.begin())));
    CHECK((group == MPI_GROUP_EMPTY) == (n == 0));
    MPI_Group_free(&group);
    CHECK(group == MPI_GROUP_NULL);
    return there;
}

bool has(const Ranks& list, int rank) { return std::find(list.begin(), list.end(), rank) != list.end(); }

Ranks random_ranks(std::mt19937& random) {
    Ranks ranks;
    for (int r = 0; r < size_; ++r)
        if (random() % 3 != 0) ranks.push_back(r);
    std::shuffle(ranks.begin(), ranks.end(), random);
    return ranks;
}

int compare(const Ranks& a, const Ranks& b) {
    if (a == b) return MPI_IDENT;
    Ranks x = a;
    Ranks y = b;
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y ? MPI_SIMILAR : MPI_UNEQUAL;
}

void against_a_model() {
    std::mt19937 random(7); // one seed for all ranks
    for (int round = 0; round < 300; ++round) {
        const Ranks a = random_ranks(random);
        const Ranks b = random_ranks(random);
        MPI_Group x = make(a);
        MPI_Group y = make(b);
        MPI_Group result = MPI_GROUP_NULL;
        Ranks expected = a;
        for (const int r : b)
            if (!has(a, r)) expected.push_back(r);
        MPI_Group_union(x, y, &result);
        CHECK(take(result) == expected);
        expected.clear();
        for (const int r : a)
            if (has(b, r)) expected.push_back(r);
        MPI_Group_intersection(x, y, &result);
        CHECK(take(result) == expected);
        expected.clear();
        for (const int r : a)
            if (!has(b, r)) expected.push_back(r);
        MPI_Group_difference(x, y, &result);
        CHECK(take(result) == expected);
        int comparison = 0;
        MPI_Group_compare(x, y, &comparison);
        CHECK(comparison == compare(a, b));
        expected.clear();
        for (int r = 0; r < size_; ++r)
            if (!has(b, r)) expected.push_back(r);
        MPI_Group_excl(world, static_cast<int>(b.size()), b.data(), &result);
        CHECK(take(result) == expected);
        CHECK(take(x) == a);
        CHECK(take(y) == b);
    }
}

void ranges() {
    MPI_Group result = MPI_GROUP_NULL;
    int forth[1][3] = {{0, size_ - 1, 2}};
    int back[1][3] = {{size_ - 1, 0, -1}};
    Ranks even;
    Ranks odd;
    Ranks reversed;
    for (int r = 0; r < size_; ++r) {
        (r % 2 == 0 ? even : odd).push_back(r);
        reversed.insert(reversed.begin(), r);
    }
    MPI_Group_range_incl(world, 1, forth, &result);
    CHECK(take(result) == even);
    MPI_Group_range_excl(world, 1, forth, &result);
    CHECK(take(result) == odd);
    MPI_Group_range_incl(world, 1, back, &result);
    CHECK(take(result) == reversed);
    MPI_Group_range_incl(world, 0, nullptr, &result);
    CHECK(take(result).empty());
}

void wrong_arguments() {
    MPI_Group result = MPI_GROUP_NULL;
    const int beyond = size_;
    const int twice[2] = {0, 0};
    int endless[1][3] = {{0, size_ - 1, 0}};
    FAILS(MPI_Group_incl(world, 1, &beyond, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_incl(world, 2, twice, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_excl(world, 2, twice, &result), MPI_ERR_RANK);
    FAILS(MPI_Group_incl(world, -1, nullptr, &result), MPI_ERR_ARG);
    FAILS(MPI_Group_range_incl(world, 1, endless, &result), MPI_ERR_ARG);
    FAILS(MPI_Group_size(MPI_GROUP_NULL, &rank_), MPI_ERR_GROUP);
    int there = 0;
    FAILS(MPI_Group_translate_ranks(world, 1, &beyond, world, &there), MPI_ERR_RANK);
    const int no_process = MPI_PROC_NULL;
    CHECK(MPI_Group_translate_ranks(world, 1, &no_process, world, &there) == MPI_SUCCESS &&
          there == MPI_PROC_NULL);
    MPI_Group freed = make({0});
    MPI_Group copy = freed;
    MPI_Group_free(&freed);
    FAILS(MPI_Group_free(&copy), MPI_ERR_GROUP);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    against_a_model();
    ranges();
    wrong_arguments();
    CHECK(take(world).size() == static_cast<size_t>(size_));
    session.end("groups");
}
