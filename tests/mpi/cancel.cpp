// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cancelation. A receive without a matching message is always canceled; a send may be, and then its message
// must never be received.
#include "check.hpp"

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

bool cancelled(const MPI_Status& status) {
    int flag = 0;
    MPI_Test_cancelled(&status, &flag);
    return flag != 0;
}

void receives() {
    int value = 7;
    MPI_Request request;
    MPI_Status status;
    for (const int source : {next(), static_cast<int>(MPI_ANY_SOURCE)}) {
        MPI_Irecv(&value, 1, MPI_INT, source, 11, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        CHECK(request != MPI_REQUEST_NULL);
        MPI_Wait(&request, &status);
        CHECK(cancelled(status) && request == MPI_REQUEST_NULL && value == 7);
    }
    // Of two receives the first is canceled: the second gets the message.
    int first = 0;
    int second = 0;
    MPI_Request both[2];
    MPI_Irecv(&first, 1, MPI_INT, previous(), 12, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(&second, 1, MPI_INT, previous(), 12, MPI_COMM_WORLD, &both[1]);
    MPI_Cancel(&both[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank_, 1, MPI_INT, next(), 12, MPI_COMM_WORLD);
    MPI_Status statuses[2];
    MPI_Waitall(2, both, statuses);
    CHECK(cancelled(statuses[0]) && !cancelled(statuses[1]));
    CHECK(first == 0 && second == previous());
}

void persistent_receive() {
    int value = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(&value, 1, MPI_INT, 0, 13, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    CHECK(cancelled(status) && request != MPI_REQUEST_NULL);
    MPI_Start(&request); // it can be started again
    const int sent = 5;
    MPI_Send(&sent, 1, MPI_INT, 0, 13, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    CHECK(!cancelled(status) && value == 5);
    MPI_Request_free(&request);
}

void matched_receive() {
    int value = 0;
    const int sent = 8;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, 0, 14, MPI_COMM_SELF, &request);
    MPI_Send(&sent, 1, MPI_INT, 0, 14, MPI_COMM_SELF);
    MPI_Cancel(&request); // too late
    MPI_Wait(&request, &status);
    CHECK(!cancelled(status) && value == 8);
}

using Send = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// The sender tells the receiver whether to expect a message.
void sends(Send* send, int n) {
    auto out = numbers(n, rank_);
    MPI_Request request;
    MPI_Request other;
    int gone = 0;
    int message_gone = 0;
    MPI_Irecv(&message_gone, 1, MPI_INT, previous(), 16, MPI_COMM_WORLD, &other);
    send(out.data(), n, MPI_INT, next(), 15, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request notice;
    MPI_Status status;
    int flag = 0;
    std::vector<int> in(static_cast<size_t>(n));
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Test(&request, &flag, &status);
    while (flag == 0) MPI_Test(&request, &flag, &status);
    gone = cancelled(status) ? 1 : 0;
    MPI_Isend(&gone, 1, MPI_INT, next(), 16, MPI_COMM_WORLD, &notice);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    if (message_gone == 0) {
        MPI_Irecv(in.data(), n, MPI_INT, previous(), 15, MPI_COMM_WORLD, &receive);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        CHECK(in == numbers(n, previous()));
    }
    MPI_Wait(&notice, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, 15, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    receives();
    persistent_receive();
    matched_receive();
    const int rounds = portable_ ? 0 : 20; // other libraries do not always complete a canceled send
    for (int round = 0; round < rounds; ++round)
        for (const int n : lengths)
            for (Send* send : {MPI_Isend, MPI_Issend}) sends(send, n);
    session.end("cancel");
}
