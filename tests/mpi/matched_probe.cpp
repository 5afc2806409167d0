// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matched probes: a probed message can be received only through its message handle.
#include "check.hpp"

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

void blocking(int n) {
    auto out = numbers(n, rank_);
    MPI_Request send;
    MPI_Issend(out.data(), n, MPI_INT, next(), 3, MPI_COMM_WORLD, &send);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
    CHECK(status.MPI_SOURCE == previous() && status.MPI_TAG == 3 && count_of(status) == n);
    int flag = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    MPI_Barrier(MPI_COMM_WORLD); // all messages have been probed
    MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0 || portable_); // probed, but not received
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> in(static_cast<size_t>(n) + 1, -1);
    MPI_Mrecv(in.data(), n + 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK(status.MPI_SOURCE == previous() && status.MPI_TAG == 3 && count_of(status) == n);
    in.pop_back();
    CHECK(in == numbers(n, previous()));
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Two messages with equal envelopes: the first is probed, a receive posted then gets the second.
void order(int n) {
    auto first = numbers(n, 1000);
    auto second = numbers(n, 2000);
    MPI_Request sends[2];
    MPI_Isend(first.data(), n, MPI_INT, next(), 4, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(second.data(), n, MPI_INT, next(), 4, MPI_COMM_WORLD, &sends[1]);
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0;
    MPI_Status status;
    while (flag == 0) MPI_Improbe(previous(), 4, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(count_of(status) == n);
    std::vector<int> in(static_cast<size_t>(n));
    MPI_Recv(in.data(), n, MPI_INT, previous(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == second);
    MPI_Request receive;
    MPI_Imrecv(in.data(), n, MPI_INT, &message, &receive);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&receive, &status);
    CHECK(in == first && status.MPI_TAG == 4 && count_of(status) == n);
    MPI_Improbe(previous(), 4, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag == 0 && message == MPI_MESSAGE_NULL);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

void proc_null() {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    int value = 4;
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL && count_of(status) == 0);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL && value == 4);
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag == 1 && message == MPI_MESSAGE_NO_PROC);
    MPI_Request request;
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
}

void errors() {
    MPI_Message message = MPI_MESSAGE_NULL;
    int values[2] = {0, 0};
    const int out[2] = {1, 2};
    CHECK(MPI_Mrecv(values, 1, MPI_INT, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI_Request send;
    MPI_Isend(out, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &send);
    MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    FAILS(MPI_Mrecv(values, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(values[0] == 1 && values[1] == 0);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    for (const int n : lengths) {
        blocking(n);
        order(n);
    }
    proc_null();
    errors();
    session.end("matched_probe");
}
