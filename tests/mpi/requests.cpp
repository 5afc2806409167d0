// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Completion of several requests with errors among them, MPI_Request_get_status, which completes nothing, and
// MPI_Isendrecv.
#include "check.hpp"

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

struct Trio { // three receives from this rank; the second is too short for its message
    int values[3][4] = {};
    MPI_Request requests[3];
    MPI_Status statuses[3];
    Trio() {
        const int out[4] = {1, 2, 3, 4};
        for (int i = 0; i < 3; ++i) {
            MPI_Irecv(values[i], i == 1 ? 2 : 4, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
            statuses[i].MPI_ERROR = -77;
        }
        for (int i = 0; i < 3; ++i) MPI_Send(out, 4, MPI_INT, 0, i, MPI_COMM_SELF);
    }
    void check_errors() {
        for (const int i : {0, 2}) { // the standard does not require that they are complete
            const int error = class_of(statuses[i].MPI_ERROR);
            CHECK(error == MPI_SUCCESS || (error == MPI_ERR_PENDING && portable_));
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
        CHECK(values[0][3] == 4 && values[2][3] == 4 && values[1][2] == 0);
    }
};

void errors_in_waitall() {
    Trio t;
    FAILS(MPI_Waitall(3, t.requests, t.statuses), MPI_ERR_IN_STATUS);
    t.check_errors();
    Trio u;
    int flag = 0;
    FAILS(MPI_Testall(3, u.requests, &flag, u.statuses), MPI_ERR_IN_STATUS);
    CHECK(flag == 1);
    u.check_errors();
    Trio v;
    FAILS(MPI_Waitall(3, v.requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
}

void errors_in_some() {
    Trio t;
    int count = 0;
    int indices[3];
    FAILS(MPI_Waitsome(3, t.requests, &count, indices, t.statuses), MPI_ERR_IN_STATUS);
    CHECK(count == 3 && indices[1] == 1);
    t.check_errors();
    Trio u;
    FAILS(MPI_Testsome(3, u.requests, &count, indices, u.statuses), MPI_ERR_IN_STATUS);
    CHECK(count == 3);
    u.check_errors();
    Trio v;
    int truncated = 0;
    for (int i = 0; i < 3; ++i) {
        int index = -1;
        const int code = MPI_Waitany(3, v.requests, &index, MPI_STATUS_IGNORE);
        CHECK(class_of(code) == (index == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        truncated += code != MPI_SUCCESS ? 1 : 0;
    }
    CHECK(truncated == 1);
}

#if HAVE_MPI_41
void status_queries() {
    int values[3] = {};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int indices[4];
    for (int i = 0; i < 3; ++i) MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    requests[3] = MPI_REQUEST_NULL;
    int flag = 1;
    int index = 0;
    int count = 0;
    MPI_Request_get_status_any(4, requests, &index, &flag, statuses);
    CHECK(flag == 0);
    MPI_Request_get_status_some(4, requests, &count, indices, statuses);
    CHECK(count == 0);
    const int out = 6;
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Request_get_status_all(4, requests, &flag, statuses);
    CHECK(flag == 0);
    for (int twice = 0; twice < 2; ++twice) { // the call changes nothing
        MPI_Request_get_status_any(4, requests, &index, &flag, statuses);
        CHECK(flag == 1 && index == 1 && statuses[0].MPI_TAG == 1);
        MPI_Request_get_status_some(4, requests, &count, indices, statuses);
        CHECK(count == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 1);
    }
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    MPI_Request_get_status_all(4, requests, &flag, statuses);
    CHECK(flag == 1 && statuses[2].MPI_TAG == 2 && is_empty(statuses[3]));
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[2] != MPI_REQUEST_NULL);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    statuses[0].MPI_ERROR = MPI_ERR_OTHER; // an empty status has MPI_SUCCESS
    MPI_Request_get_status_any(4, requests, &index, &flag, statuses);
    CHECK(flag == 1 && index == MPI_UNDEFINED && is_empty(statuses[0]) &&
          statuses[0].MPI_ERROR == MPI_SUCCESS);
    MPI_Request_get_status_some(4, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
}
#endif

#if MPI_VERSION >= 4
void exchanges(int n) {
    auto out = numbers(n, rank_);
    std::vector<int> in(static_cast<size_t>(n));
    MPI_Request request;
    MPI_Status status;
    MPI_Isendrecv(out.data(), n, MPI_INT, next(), 1, in.data(), n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(in == numbers(n, previous()));
    CHECK(portable_ || (status.MPI_SOURCE == previous() && count_of(status) == n));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isendrecv_replace(out.data(), n, MPI_INT, next(), 2, previous(), 2, MPI_COMM_WORLD, &request);
    int flag = 0;
    while (flag == 0) MPI_Test(&request, &flag, &status);
    CHECK(out == numbers(n, previous()));
    CHECK(portable_ || (status.MPI_TAG == 2 && count_of(status) == n));
}

void exchanges_with_proc_null() {
    int out = 5;
    int in = 3;
    MPI_Request request;
    MPI_Status status;
    MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && in == 3);
    MPI_Request send;
    MPI_Isendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &send);
    MPI_Isendrecv_replace(&in, 1, MPI_INT, MPI_PROC_NULL, 4, 0, 4, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    CHECK(in == 5 && status.MPI_SOURCE == 0);
    MPI_Wait(&send, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    // Freed while it is in flight.
    std::vector<int> big(50000, 2);
    MPI_Isendrecv_replace(big.data(), 50000, MPI_INT, 0, 5, 0, 5, MPI_COMM_SELF, &request);
    MPI_Request_free(&request);
}
#endif

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    errors_in_waitall();
    errors_in_some();
#if HAVE_MPI_41
    status_queries();
#endif
#if MPI_VERSION >= 4
    for (const int n : lengths) exchanges(n);
    if (!portable_) exchanges_with_proc_null();
#endif
    session.end("requests");
}
