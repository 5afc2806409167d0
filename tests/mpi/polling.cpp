// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// More ranks than CPUs, which pass a message around in loops of nonblocking calls. A rank with an idle poll
// must yield: otherwise each message takes a time slice of the scheduler.
#include "check.hpp"

namespace {

using Receive = void (*)(int& value, int from);

void by_waiting(int& value, int from) {
    MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

template <class Look>
void with_request(int& value, int from, const Look& look) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &request);
    while (!look(request)) {
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void by_test(int& value, int from) {
    with_request(value, from, [](MPI_Request& r) {
        int flag = 0;
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        return flag != 0;
    });
}

void by_testall(int& value, int from) {
    with_request(value, from, [](MPI_Request& r) {
        int flag = 0;
        MPI_Testall(1, &r, &flag, MPI_STATUSES_IGNORE);
        return flag != 0;
    });
}

void by_testany(int& value, int from) {
    with_request(value, from, [](MPI_Request& r) {
        int flag = 0;
        int index = 0;
        MPI_Testany(1, &r, &index, &flag, MPI_STATUS_IGNORE);
        return flag != 0;
    });
}

void by_testsome(int& value, int from) {
    with_request(value, from, [](MPI_Request& r) {
        int count = 0;
        int index = 0;
        MPI_Testsome(1, &r, &count, &index, MPI_STATUSES_IGNORE);
        return count != 0;
    });
}

void by_get_status(int& value, int from) {
    with_request(value, from, [](MPI_Request& r) {
        int flag = 0;
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
        return flag != 0;
    });
}

void by_iprobe(int& value, int from) {
    for (int flag = 0; flag == 0;) MPI_Iprobe(from, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    by_waiting(value, from);
}

void by_improbe(int& value, int from) {
    MPI_Message message = MPI_MESSAGE_NULL;
    for (int flag = 0; flag == 0;) MPI_Improbe(from, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

// Sends a message around the ring several times. Returns the seconds.
double around(Receive receive) {
    constexpr int rounds = 50;
    const int next = (rank_ + 1) % size_;
    const int previous = (rank_ + size_ - 1) % size_;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
        int value = -1;
        if (rank_ == 0) MPI_Send(&i, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        receive(value, previous);
        CHECK(value == i);
        if (rank_ != 0) MPI_Send(&value, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    const double waited = around(by_waiting);
    const Receive others[] = {by_test,       by_testall, by_testany, by_testsome,
                              by_get_status, by_iprobe,  by_improbe};
    double looked = 0;
    for (const Receive receive : others) looked += around(receive);
    // seven loops; a generous limit, because the machine may be busy
    if (!portable_) CHECK(looked < 70 * waited + 3);
    session.end("polling");
}
