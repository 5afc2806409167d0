// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Generalized requests: completed before and during a wait, by this and by another thread, freed early,
// canceled; each callback is called once, and its return value is returned by the completion call.
#include "check.hpp"

#include <chrono>
#include <thread>

namespace {

struct Work {
    int queries = 0;
    int frees = 0;
    int cancels = 0;
    int complete_at_cancel = -1;
    int result = MPI_SUCCESS;
};

int query(void* extra, MPI_Status* status) {
    auto& work = *static_cast<Work*>(extra);
    ++work.queries;
    MPI_Status_set_elements(status, MPI_INT, 17);
    MPI_Status_set_cancelled(status, work.cancels);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return work.result;
}
int end(void* extra) {
    ++static_cast<Work*>(extra)->frees;
    return MPI_SUCCESS;
}
int cancel(void* extra, int complete) {
    auto& work = *static_cast<Work*>(extra);
    ++work.cancels;
    work.complete_at_cancel = complete;
    return MPI_SUCCESS;
}

MPI_Request start(Work& work) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_Grequest_start(query, end, cancel, &work, &request) == MPI_SUCCESS);
    return request;
}

void one_after_another() {
    Work work;
    MPI_Request request = start(work);
    int flag = 1;
    MPI_Status status;
    MPI_Test(&request, &flag, &status);
    CHECK(flag == 0 && work.queries == 0);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag != 0 && work.queries == 1 && work.frees == 0);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL && work.queries == 2 && work.frees == 1);
    CHECK(count_of(status) == 17 && status.MPI_SOURCE == 3 && status.MPI_TAG == 4);
}

void freed_and_cancelled() {
    Work work;
    MPI_Request request = start(work);
    MPI_Request kept = request;
    MPI_Request_free(&request);
    CHECK(work.frees == 0);
    MPI_Grequest_complete(kept);
    CHECK(work.frees == 1 && work.queries == 0);
    Work other;
    request = start(other);
    MPI_Cancel(&request);
    CHECK(other.cancels == 1 && other.complete_at_cancel == 0);
    MPI_Grequest_complete(request);
    FAILS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    MPI_Status status;
    MPI_Wait(&request, &status);
    int canceled = 0;
    MPI_Test_cancelled(&status, &canceled);
    CHECK(canceled != 0 && other.frees == 1);
}

void failing() {
    Work work;
    MPI_Add_error_code(MPI_ERR_OTHER, &work.result);
    MPI_Request requests[2] = {start(work), MPI_REQUEST_NULL};
    MPI_Grequest_complete(requests[0]);
    MPI_Status statuses[2];
    FAILS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK(statuses[0].MPI_ERROR == work.result && statuses[1].MPI_ERROR == MPI_SUCCESS && work.frees == 1);
    Work single;
    single.result = work.result;
    MPI_Request request = start(single);
    MPI_Grequest_complete(request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == work.result);
}

void by_another_thread() {
    Work work;
    MPI_Request requests[3] = {start(work), start(work), MPI_REQUEST_NULL};
    int in = 0;
    MPI_Irecv(&in, 1, MPI_INT, rank_, 9, MPI_COMM_WORLD, &requests[2]);
    std::thread helper([&] {
        for (int i = 0; i < 2; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            MPI_Grequest_complete(requests[i]);
        }
        const int out = 5;
        MPI_Send(&out, 1, MPI_INT, rank_, 9, MPI_COMM_WORLD);
    });
    MPI_Request copies[3] = {requests[0], requests[1], requests[2]};
    MPI_Waitall(3, copies, MPI_STATUSES_IGNORE);
    helper.join();
    CHECK(in == 5 && work.queries == 2 && work.frees == 2);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv, MPI_THREAD_MULTIPLE);
    one_after_another();
    freed_and_cancelled();
    failing();
    by_another_thread();
    session.end("generalized");
}
