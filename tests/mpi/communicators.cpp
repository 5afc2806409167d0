// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Intracommunicators: split, create, create_group, blocking and nonblocking duplication, names, hints.
#include "check.hpp"

#include <random>
#include <string>

namespace {

int sum_on(MPI_Comm comm, int value) {
    int sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

// Checks members and their order against values that each rank computes.
void check_members(MPI_Comm comm, const std::vector<int>& expected) {
    int n = 0;
    int rank = 0;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &rank);
    CHECK(n == static_cast<int>(expected.size()));
    CHECK(expected[static_cast<size_t>(rank)] == rank_);
    std::vector<int> members(expected.size());
    MPI_Allgather(&rank_, 1, MPI_INT, members.data(), 1, MPI_INT, comm);
    CHECK(members == expected);
}

void splits() {
    std::mt19937 random(3);
    for (int round = 0; round < 40; ++round) {
        std::vector<int> colors;
        std::vector<int> keys;
        for (int r = 0; r < size_; ++r) {
            colors.push_back(random() % 4 == 0 ? MPI_UNDEFINED : static_cast<int>(random() % 3));
            keys.push_back(static_cast<int>(random() % 5) - 2);
        }
        const int color = colors[static_cast<size_t>(rank_)];
        MPI_Comm part = MPI_COMM_WORLD;
        CHECK(MPI_Comm_split(MPI_COMM_WORLD, color, keys[static_cast<size_t>(rank_)], &part) == MPI_SUCCESS);
        CHECK((part == MPI_COMM_NULL) == (color == MPI_UNDEFINED));
        if (part == MPI_COMM_NULL) continue;
        std::vector<int> expected;
        for (int key = -2; key <= 2; ++key)
            for (int r = 0; r < size_; ++r)
                if (colors[static_cast<size_t>(r)] == color && keys[static_cast<size_t>(r)] == key)
                    expected.push_back(r);
        check_members(part, expected);
        MPI_Comm_free(&part);
        CHECK(part == MPI_COMM_NULL);
    }
    MPI_Comm wrong = MPI_COMM_NULL;
    FAILS(MPI_Comm_split(MPI_COMM_SELF, -5, 0, &wrong), MPI_ERR_ARG);
}

void split_types() {
    MPI_Comm shared = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank_, MPI_INFO_NULL, &shared);
    // Ranks that can share memory are on this host; this key reverses them.
    std::vector<char> names(static_cast<size_t>(size_) * MPI_MAX_PROCESSOR_NAME);
    char own[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(own, &length);
    MPI_Allgather(own, sizeof own, MPI_CHAR, names.data(), sizeof own, MPI_CHAR, MPI_COMM_WORLD);
    std::vector<int> reversed;
    for (int r = size_ - 1; r >= 0; --r)
        if (std::strcmp(&names[static_cast<size_t>(r) * sizeof own], own) == 0) reversed.push_back(r);
    check_members(shared, reversed);
    MPI_Comm none = MPI_COMM_WORLD;
    MPI_Comm_split_type(shared, MPI_UNDEFINED, 0, MPI_INFO_NULL, &none);
    CHECK(none == MPI_COMM_NULL);
    MPI_Comm_free(&shared);
}

// One cluster, or those of mpiexec --clusters.
void split_by_cluster() {
    char own[MPI_MAX_INFO_VAL] = {};
    int length = sizeof own;
    int known = 0;
    MPI_Info_get_string(MPI_INFO_ENV, "zipmpi_cluster", &length, own, &known);
    std::vector<char> names(static_cast<size_t>(size_) * sizeof own);
    MPI_Allgather(own, sizeof own, MPI_CHAR, names.data(), sizeof own, MPI_CHAR, MPI_COMM_WORLD);
    std::vector<int> same;
    for (int r = 0; r < size_; ++r)
        if (std::strcmp(&names[static_cast<size_t>(r) * sizeof own], own) == 0) same.push_back(r);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "zipmpi://cluster");
    for (const int type : {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED}) {
        MPI_Comm cluster = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &cluster);
        check_members(cluster, same);
        MPI_Comm_free(&cluster);
    }
    MPI_Info_free(&info);
}

void created() {
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group odd = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int range[1][3] = {{(size_ - 1) / 2 * 2, 0, -2}}; // even ranks, the largest first
    MPI_Group even = MPI_GROUP_NULL;
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Group_difference(world, even, &odd);
    std::vector<int> evens;
    std::vector<int> odds;
    for (int r = 0; r < size_; ++r) (r % 2 == 0 ? evens : odds).push_back(r);
    const std::vector<int> down(evens.rbegin(), evens.rend());
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, even, &comm) == MPI_SUCCESS);
    CHECK((comm != MPI_COMM_NULL) == (rank_ % 2 == 0));
    if (comm != MPI_COMM_NULL) {
        check_members(comm, down);
        MPI_Comm_free(&comm);
    }
    // two disjoint groups in one call
    MPI_Comm_create(MPI_COMM_WORLD, rank_ % 2 == 0 ? even : odd, &comm);
    check_members(comm, rank_ % 2 == 0 ? down : odds);
    // members only, while the others do something else
    MPI_Comm part = MPI_COMM_NULL;
    if (rank_ % 2 == 0) {
        CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, even, 2147483647, &part) == MPI_SUCCESS);
        check_members(part, down);
        MPI_Comm_free(&part);
    }
    MPI_Comm_create_group(comm, rank_ % 2 == 0 ? even : odd, 3, &part);
    int comparison = -1;
    MPI_Comm_compare(part, comm, &comparison);
    CHECK(comparison == MPI_CONGRUENT);
    MPI_Comm_free(&part);
    if (size_ > 1) FAILS(MPI_Comm_create(MPI_COMM_SELF, world, &part), MPI_ERR_GROUP);
    MPI_Comm_free(&comm);
    for (MPI_Group* g : {&world, &even, &odd}) MPI_Group_free(g);
}

void nonblocking_copies() {
    std::vector<MPI_Comm> copies(20);
    std::vector<MPI_Request> requests(copies.size());
    for (size_t i = 0; i < copies.size(); ++i)
        CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]) == MPI_SUCCESS);
    CHECK(sum_on(MPI_COMM_WORLD, 1) == size_); // other collectives run meanwhile
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < copies.size(); ++i) {
        const int n = static_cast<int>(i);
        CHECK(sum_on(copies[i], n) == n * size_);
        int comparison = -1;
        MPI_Comm_compare(copies[i], MPI_COMM_WORLD, &comparison);
        CHECK(comparison == MPI_CONGRUENT);
    }
    for (MPI_Comm& c : copies) MPI_Comm_free(&c);
}

void names_and_hints() {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm again = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
    MPI_Info_free(&info);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == 0 && name[0] == '\0');
    MPI_Comm_set_name(copy, "a copy");
    MPI_Comm_dup(copy, &again);
    MPI_Comm_get_name(again, name, &length);
    CHECK(length == 0);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(std::string(name) == "a copy");
    MPI_Comm_get_info(again, &info);
    char value[10];
    int room = sizeof value;
    int found = 0;
    MPI_Info_get_string(info, "mpi_assert_no_any_tag", &room, value, &found);
    CHECK(found != 0 && std::string(value) == "true" && room == 5);
    MPI_Info_free(&info);
    MPI_Comm_free(&again);
    MPI_Request inactive = MPI_REQUEST_NULL; // no pending communication: the disconnect does not wait for it
    int data = 0;
    MPI_Recv_init(&data, 1, MPI_INT, rank_, 0, copy, &inactive);
    MPI_Comm_disconnect(&copy);
    MPI_Request_free(&inactive);
    CHECK(copy == MPI_COMM_NULL);
    MPI_Comm world = MPI_COMM_WORLD;
    FAILS(MPI_Comm_free(&world), MPI_ERR_COMM);
}

// Messages unreceived when their communicator was freed do not appear in a later one, which may reuse the
// context id.
void unreceived() {
    if (size_ < 2) return;
    for (int i = 0; i < 10; ++i) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i % 2 == 1 && rank_ == 1) {
            int flag = 1;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
            CHECK(flag == 0);
        }
        if (i % 2 == 0 && rank_ == 0) MPI_Send(&i, 1, MPI_INT, 1, 5, comm);
        if (rank_ == 0) MPI_Send(&i, 1, MPI_INT, 1, 6, MPI_COMM_WORLD); // sent after the other
        int last = 0;
        if (rank_ == 1) MPI_Recv(&last, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    splits();
    split_types();
    split_by_cluster();
    created();
    nonblocking_copies();
    names_and_hints();
    if (!portable_) unreceived();
    session.end("communicators");
}
