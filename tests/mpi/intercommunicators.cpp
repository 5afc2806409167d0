// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Intercommunicators: created in both ways, duplicated, split, merged; point-to-point goes to the other
// group. Needs two ranks or more.
#include "check.hpp"

namespace {

MPI_Comm half = MPI_COMM_NULL; // even or odd ranks of MPI_COMM_WORLD, in reverse order
int own_size = 0;
int own_rank = 0;

int parity() { return rank_ % 2; }
// The rank in MPI_COMM_WORLD of rank r of a half.
int world_rank(int r, int which) {
    const int n = (size_ + 1 - which) / 2;
    return (n - 1 - r) * 2 + which;
}

void check_messages(MPI_Comm comm, int n) {
    int size = 0;
    MPI_Comm_remote_size(comm, &size);
    CHECK(size == n);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::vector<int> in(static_cast<size_t>(n));
    std::vector<MPI_Request> requests;
    for (int r = 0; r < n; ++r) {
        requests.emplace_back();
        MPI_Irecv(&in[static_cast<size_t>(r)], 1, MPI_INT, r, 1, comm, &requests.back());
    }
    for (int r = 0; r < n; ++r) MPI_Send(&rank_, 1, MPI_INT, r, 1, comm);
    MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Group remote = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_remote_group(comm, &remote);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = 0; r < n; ++r) {
        int expected = 0;
        MPI_Group_translate_ranks(remote, 1, &r, world, &expected);
        CHECK(in[static_cast<size_t>(r)] == expected);
    }
    MPI_Group_free(&remote);
    MPI_Group_free(&world);
    int beyond = 0;
    FAILS(MPI_Send(&beyond, 1, MPI_INT, n, 0, comm), MPI_ERR_RANK);
}

void check_merged(MPI_Comm comm, bool high, bool first) {
    MPI_Comm merged = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_merge(comm, high ? 1 : 0, &merged) == MPI_SUCCESS);
    int n = 0;
    int rank = 0;
    MPI_Comm_size(merged, &n);
    MPI_Comm_rank(merged, &rank);
    CHECK(n == size_ && rank == (first ? own_rank : size_ - own_size + own_rank));
    int sum = 0;
    MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == size_ * (size_ - 1) / 2);
    MPI_Comm_free(&merged);
}

void check_split(MPI_Comm comm) {
    // the first rank of each half is left out; the others use the new one unless the other side is empty
    MPI_Comm part = MPI_COMM_WORLD;
    CHECK(MPI_Comm_split(comm, own_rank == 0 ? MPI_UNDEFINED : 7, -own_rank, &part) == MPI_SUCCESS);
    const int others = size_ - own_size - 1;
    CHECK((part != MPI_COMM_NULL) == (own_rank > 0 && others > 0));
    if (part != MPI_COMM_NULL) {
        int rank = 0;
        MPI_Comm_rank(part, &rank);
        CHECK(rank == own_size - 1 - own_rank);
        check_messages(part, others);
        MPI_Comm_free(&part);
    }
    // only one group has this color
    MPI_Comm_split(comm, parity(), 0, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group first = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &group);
    const int zero = 0;
    MPI_Group_incl(group, 1, &zero, &first);
    MPI_Comm_create(comm, first, &part);
    CHECK((part != MPI_COMM_NULL) == (own_rank == 0));
    if (part != MPI_COMM_NULL) {
        check_messages(part, 1);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&first);
}

void check_all(MPI_Comm comm) {
    int inter = 0;
    MPI_Comm_test_inter(comm, &inter);
    CHECK(inter != 0);
    int n = 0;
    MPI_Comm_size(comm, &n);
    CHECK(n == own_size);
    check_messages(comm, size_ - own_size);
    check_merged(comm, parity() == 0, parity() == 1);
    check_merged(comm, parity() == 1, parity() == 0);
    check_merged(comm, false, world_rank(0, parity()) < world_rank(0, 1 - parity()));
    check_split(comm);
}

void copies(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &copy);
    int comparison = -1;
    MPI_Comm_compare(comm, copy, &comparison);
    CHECK(comparison == MPI_CONGRUENT);
    MPI_Comm_compare(comm, half, &comparison);
    CHECK(comparison == MPI_UNEQUAL);
    check_messages(copy, size_ - own_size);
    MPI_Comm_free(&copy);
    std::vector<MPI_Comm> many(10);
    std::vector<MPI_Request> requests(many.size());
    for (size_t i = 0; i < many.size(); ++i) MPI_Comm_idup(comm, &many[i], &requests[i]);
    MPI_Waitall(static_cast<int>(many.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (MPI_Comm& c : many) {
        check_messages(c, size_ - own_size);
        MPI_Comm_free(&c);
    }
}

// Ranks of the root's group that are not the root may pass any operation and datatype.
void reductions(MPI_Comm comm) {
    const int one = 1;
    int sum = 0;
    if (parity() == 1)
        CHECK(MPI_Reduce(&one, nullptr, 1, MPI_INT, MPI_SUM, 0, comm) == MPI_SUCCESS);
    else if (own_rank == 0)
        CHECK(MPI_Reduce(nullptr, &sum, 1, MPI_INT, MPI_SUM, MPI_ROOT, comm) == MPI_SUCCESS);
    else
        CHECK(MPI_Reduce(nullptr, nullptr, 0, MPI_BYTE, MPI_SUM, MPI_PROC_NULL, comm) == MPI_SUCCESS);
    CHECK(sum == (parity() == 0 && own_rank == 0 ? size_ - own_size : 0));
}

// Collectives between the groups, duplication, and the collectives of one group of which a merge consists,
// all concurrently.
void mixed(MPI_Comm comm) {
    constexpr size_t rounds = 5;
    for (int repetition = 0; repetition < 40; ++repetition) {
        MPI_Comm fresh = MPI_COMM_NULL; // its count of collectives starts at zero
        MPI_Comm_dup(comm, &fresh);
        std::vector<MPI_Comm> many(rounds);
        std::vector<MPI_Request> requests(3 * rounds);
        std::vector<int> sums(rounds);
        const int one = 1;
        for (size_t i = 0; i < rounds; ++i) {
            MPI_Ibarrier(fresh, &requests[3 * i]);
            MPI_Comm_idup(fresh, &many[i], &requests[3 * i + 1]);
            MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, fresh, &requests[3 * i + 2]);
            if (i == 2) check_merged(fresh, parity() == 1, parity() == 0);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (size_t i = 0; i < rounds; ++i) {
            CHECK(sums[i] == size_ - own_size);
            MPI_Comm_free(&many[i]);
        }
        MPI_Comm_free(&fresh);
    }
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, parity(), -rank_, &half);
    MPI_Comm_size(half, &own_size);
    MPI_Comm_rank(half, &own_rank);
    MPI_Comm inter = MPI_COMM_NULL;
    const int leader = own_size - 1; // rank 0 or 1 of MPI_COMM_WORLD
    int none = 0;
    FAILS(MPI_Comm_remote_size(half, &none), MPI_ERR_COMM);
    CHECK(MPI_Intercomm_create(half, leader, own_rank == leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                               1 - parity(), 12, &inter) == MPI_SUCCESS);
    check_all(inter);
    copies(inter);
    mixed(inter);
    reductions(inter);
    // an intercommunicator of two that uses another as the peer communicator
    MPI_Comm second = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_create(half, 0, inter, 0, 0, &second) == MPI_SUCCESS);
    check_all(second);
    MPI_Comm_free(&second);
    MPI_Comm_free(&inter);
#if MPI_VERSION >= 4
    MPI_Group own = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group other = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(half, &own);
    MPI_Group_difference(world, own,
                         &other); // in ascending order: its rank 0 is the leader of the other half
    MPI_Group rising = MPI_GROUP_NULL;
    MPI_Group_intersection(world, own, &rising);
    CHECK(MPI_Intercomm_create_from_groups(rising, 0, other, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &inter) == MPI_SUCCESS);
    check_messages(inter, size_ - own_size);
    MPI_Comm_free(&inter);
    for (MPI_Group* g : {&own, &world, &other, &rising}) MPI_Group_free(g);
#endif
    MPI_Comm_free(&half);
    session.end("intercommunicators");
}
