// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Short messages to nonblocking receives: statuses, order among receives with and without wildcards,
// cancellation, and requests that are used again after each kind of end. In a ring of ranks.
#include "check.hpp"

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

MPI_Request receive(int& value, int tag, int source) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    return request;
}
// After a barrier, so that the receives of all ranks are posted.
void send(const std::vector<int>& values, int tag) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (const int value : values) MPI_Send(&value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
void wait_all(std::vector<MPI_Request> requests) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
}

void statuses_of_all() {
    constexpr int n = 8;
    const std::vector<int> out = numbers(n, rank_);
    std::vector<int> in(n);
    std::vector<MPI_Request> requests(2 * n + 1, MPI_REQUEST_NULL);
    std::vector<MPI_Status> statuses(2 * n + 1);
    for (MPI_Status& status : statuses) status.MPI_ERROR = -77;
    for (size_t i = 0; i < n; ++i) requests[i] = receive(in[i], static_cast<int>(i), previous());
    for (size_t i = 0; i < n; ++i)
        MPI_Isend(&out[i], 1, MPI_INT, next(), static_cast<int>(i), MPI_COMM_WORLD, &requests[n + 1 + i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2 * n + 1, requests.data(), statuses.data());
    CHECK(in == numbers(n, previous()));
    for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
    for (int i = 0; i < n; ++i) {
        const MPI_Status& status = statuses[static_cast<size_t>(i)];
        CHECK(status.MPI_SOURCE == previous() && status.MPI_TAG == i && count_of(status) == 1);
        CHECK(portable_ || status.MPI_ERROR == -77);
    }
    CHECK(is_empty(statuses[n]) && statuses[n].MPI_ERROR == MPI_SUCCESS);
}

void more_than_fit_on_the_stack() {
    constexpr size_t n = 100;
    const std::vector<int> out = numbers(n, rank_);
    std::vector<int> in(n);
    std::vector<MPI_Request> requests(n);
    for (size_t i = 0; i < n; ++i) requests[i] = receive(in[i], static_cast<int>(i) % 3, previous());
    for (size_t i = 0; i < n; ++i)
        MPI_Send(&out[i], 1, MPI_INT, next(), static_cast<int>(i) % 3, MPI_COMM_WORLD);
    wait_all(requests);
    CHECK(in == numbers(n, previous()));
}

// Receives that match the same message, in the order of their posts.
void order_among_wildcards() {
    int in[5] = {};
    wait_all([&] {
        const std::vector<MPI_Request> requests{
            receive(in[0], 1, previous()), receive(in[1], MPI_ANY_TAG, previous()),
            receive(in[2], 1, previous()), receive(in[3], MPI_ANY_TAG, MPI_ANY_SOURCE),
            receive(in[4], 1, previous())};
        send({10, 11, 12, 13, 14}, 1);
        return requests;
    }());
    for (int i = 0; i < 5; ++i) CHECK(in[i] == 10 + i);

    // The wildcard is gone, but an exact receive that was posted after it is not.
    MPI_Request wildcard = receive(in[0], 1, MPI_ANY_SOURCE);
    const MPI_Request first = receive(in[1], 1, previous());
    send({20}, 1);
    MPI_Wait(&wildcard, MPI_STATUS_IGNORE);
    const MPI_Request second = receive(in[2], 1, previous());
    send({21, 22}, 1);
    wait_all({second, first});
    CHECK(in[0] == 20 && in[1] == 21 && in[2] == 22);
}

void canceled_among_others() {
    int in[4] = {-1, -1, -1, -1};
    std::vector<MPI_Request> requests(4);
    for (size_t i = 0; i < 4; ++i) requests[i] = receive(in[i], 2, previous());
    for (const size_t i : {size_t{1}, size_t{3}}) {
        MPI_Status status;
        int canceled = 0;
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &canceled);
        CHECK(canceled == 1);
    }
    requests[3] = receive(in[3], 2, previous());
    send({30, 31, 32}, 2);
    wait_all({requests[0], requests[2], requests[3]});
    CHECK(in[0] == 30 && in[1] == -1 && in[2] == 31 && in[3] == 32);
}

// Canceled and completed in one call with others: the status says so.
void canceled_in_waitall() {
    int in[2] = {-1, -1};
    MPI_Request requests[2] = {receive(in[0], 3, previous()), receive(in[1], 3, previous())};
    MPI_Cancel(&requests[0]);
    send({40}, 3);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    int canceled[2] = {};
    for (int i = 0; i < 2; ++i) MPI_Test_cancelled(&statuses[i], &canceled[i]);
    CHECK(canceled[0] == 1 && canceled[1] == 0 && in[1] == 40);
}

void truncated_among_others() {
    int in[3] = {};
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int i = 0; i < 3; ++i)
        MPI_Irecv(&in[i], i == 1 ? 0 : 1, MPI_INT, previous(), 4, MPI_COMM_WORLD, &requests[i]);
    send({50, 51, 52}, 4);
    FAILS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
    for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == 50 && in[2] == 52);
}

void freed_communicator_and_request() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int in[2] = {};
    const int out = 60;
    MPI_Request kept = MPI_REQUEST_NULL;
    MPI_Irecv(&in[0], 1, MPI_INT, previous(), 5, comm, &kept);
    MPI_Request freed = MPI_REQUEST_NULL;
    MPI_Irecv(&in[1], 1, MPI_INT, previous(), 5, comm, &freed);
    MPI_Request_free(&freed);
    for (int i = 0; i < 2; ++i) MPI_Send(&out, 1, MPI_INT, next(), 5, comm);
    MPI_Comm_free(&comm);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    CHECK(in[0] == 60);
    for (int flag = 0; in[1] != 60;) // progress
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

// A message that needs more than a slot in front of one that does not, and a noncontiguous receive.
void behind_others() {
    std::vector<int> big(100000);
    int in = 0;
    int spread[3] = {-1, -1, -1};
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    std::vector<MPI_Request> requests(5, MPI_REQUEST_NULL);
    MPI_Irecv(big.data(), 100000, MPI_INT, previous(), 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(spread, 1, pair, previous(), 6, MPI_COMM_WORLD, &requests[1]);
    requests[2] = receive(in, 6, previous());
    const std::vector<int> out(100000, rank_);
    MPI_Isend(out.data(), 100000, MPI_INT, next(), 6, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(out.data(), 2, MPI_INT, next(), 6, MPI_COMM_WORLD, &requests[4]);
    MPI_Send(out.data(), 1, MPI_INT, next(), 6, MPI_COMM_WORLD);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    wait_all(requests);
    CHECK(big == std::vector<int>(100000, previous()) && in == previous());
    CHECK(spread[0] == previous() && spread[1] == -1 && spread[2] == previous());
    MPI_Type_free(&pair);
}

void tested_and_waited_for() {
    int in[2] = {};
    MPI_Request requests[2] = {receive(in[0], 7, previous()), receive(in[1], 8, previous())};
    int flag = 1;
    MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    send({70}, 7);
    MPI_Status status;
    status.MPI_ERROR = -77;
    while (flag == 0) MPI_Test(&requests[0], &flag, &status);
    CHECK(in[0] == 70 && requests[0] == MPI_REQUEST_NULL && status.MPI_SOURCE == previous() &&
          status.MPI_TAG == 7 && count_of(status) == 1);
    CHECK(portable_ || status.MPI_ERROR == -77);
    send({71}, 8);
    MPI_Wait(&requests[1], &status);
    CHECK(in[1] == 71 && status.MPI_TAG == 8);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    for (int round = 0; round < 40; ++round) { // some calls take the general path instead
        statuses_of_all();
        more_than_fit_on_the_stack();
        order_among_wildcards();
        canceled_among_others();
        canceled_in_waitall();
        truncated_among_others();
        freed_communicator_and_request();
        behind_others();
        tested_and_waited_for();
    }
    session.end("plain_requests");
    return 0;
}
