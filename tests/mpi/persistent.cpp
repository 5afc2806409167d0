// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Persistent requests in all modes, inactive ones in all completion calls, and requests freed while active.
#include "check.hpp"

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

using Init = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

void ring(Init* init, int n) {
    std::vector<int> out(static_cast<size_t>(n));
    std::vector<int> in(static_cast<size_t>(n));
    MPI_Request requests[2];
    MPI_Recv_init(in.data(), n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    init(out.data(), n, MPI_INT, next(), 5, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 10; ++round) {
        renumber(out, 100 * rank_ + round);
        MPI_Start(&requests[0]); // before the barrier: a ready send needs its receive
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(1, &requests[1]);
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
        CHECK(statuses[0].MPI_SOURCE == previous() && statuses[0].MPI_TAG == 5);
        CHECK(count_of(statuses[0]) == n && in == numbers(n, 100 * previous() + round));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

void inactive_in_single_forms(MPI_Request& request) {
    MPI_Status status;
    int flag = 0;
    MPI_Wait(&request, &status);
    CHECK(is_empty(status) && request != MPI_REQUEST_NULL);
    MPI_Test(&request, &flag, &status);
    CHECK(flag == 1 && is_empty(status));
    flag = 0;
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag == 1 && is_empty(status));
}

void inactive_in_array_forms(MPI_Request* requests) { // three: persistent, null, persistent
    MPI_Status statuses[3];
    int indices[3];
    int flag = 0;
    int index = 0;
    int count = 0;
    MPI_Waitall(3, requests, statuses);
    CHECK(is_empty(statuses[0]) && is_empty(statuses[1]) && is_empty(statuses[2]));
    MPI_Testall(3, requests, &flag, statuses);
    CHECK(flag == 1 && is_empty(statuses[2]));
    MPI_Waitany(3, requests, &index, statuses);
    CHECK(index == MPI_UNDEFINED && is_empty(statuses[0]));
    flag = index = 0;
    MPI_Testany(3, requests, &index, &flag, statuses);
    CHECK(flag == 1 && index == MPI_UNDEFINED && is_empty(statuses[0]));
    MPI_Waitsome(3, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    count = 0;
    MPI_Testsome(3, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

void inactive() {
    const int out = 1;
    int value = 0;
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[2]);
    inactive_in_single_forms(requests[0]);
    inactive_in_array_forms(requests);
    MPI_Startall(1, requests);
    MPI_Start(&requests[2]);
    int index = -1;
    MPI_Status status;
    for (int i = 0; i < 2; ++i) MPI_Waitany(3, requests, &index, &status);
    CHECK(value == 1);
    inactive_in_array_forms(requests);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[2]);
}

void to_proc_null() {
    int value = 3;
    MPI_Request requests[2];
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Status statuses[2];
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        CHECK(statuses[0].MPI_SOURCE == MPI_PROC_NULL && count_of(statuses[0]) == 0 && value == 3);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

// Freed while active: the communication still completes.
void freed(int n) {
    auto out = numbers(n, rank_);
    std::vector<int> in(static_cast<size_t>(n));
    MPI_Request receive;
    MPI_Request send;
    MPI_Irecv(in.data(), n, MPI_INT, previous(), 6, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send_init(out.data(), n, MPI_INT, next(), 6, MPI_COMM_WORLD, &send);
    MPI_Start(&send);
    MPI_Request_free(&send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(in == numbers(n, previous()));
    MPI_Recv_init(in.data(), n, MPI_INT, previous(), 7, MPI_COMM_WORLD, &receive);
    MPI_Start(&receive);
    MPI_Request_free(&receive);
    MPI_Barrier(MPI_COMM_WORLD);
    renumber(out, 50 + rank_);
    MPI_Ssend(out.data(), n, MPI_INT, next(), 7, MPI_COMM_WORLD);
    // The synchronous send has been matched, so the bytes are in flight; no call reports when they have all
    // arrived.
    const double begin = MPI_Wtime();
    int flag = 0;
    while (in != numbers(n, 50 + previous()) && MPI_Wtime() - begin < 30)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(in == numbers(n, 50 + previous()));
    MPI_Barrier(MPI_COMM_WORLD);
}

void errors() {
    const int out = 1;
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Startall(1, &request), MPI_ERR_REQUEST);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    std::vector<char> buffer(2 * (400000 + MPI_BSEND_OVERHEAD));
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    for (const int n : lengths)
        for (Init* init : {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init}) ring(init, n);
    void* memory = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&memory, &bytes);
    inactive();
    if (!portable_) to_proc_null();
    if (size_ > 1)
        for (const int n : lengths) freed(n);
    errors();
    session.end("persistent");
}
