// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many concurrent agreements of one rank: eight threads with a communicator each, and one thread with many
// nonblocking ones.
#include "check.hpp"

#include <thread>

namespace {

constexpr int threads = 8;
constexpr int rounds = 20;

void agree_repeatedly(MPI_Comm comm, int thread) {
    for (int i = 0; i < rounds; ++i) {
        int flag = ~(1 << (rank_ + i + thread) % 20);
        int wanted = ~0;
        for (int r = 0; r < size_; ++r) wanted &= ~(1 << (r + i + thread) % 20);
        CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS);
        CHECK(flag == wanted);
    }
}

// In a different order on each rank, so that every rank has agreements the others have not started.
void begin_many(const std::vector<MPI_Comm>& comms) {
    const int n = static_cast<int>(comms.size());
    std::vector<int> flags(comms.size());
    std::vector<MPI_Request> requests(comms.size(), MPI_REQUEST_NULL);
    for (int i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>((i + rank_ * 3) % n);
        flags[at] = 1 << rank_ | 1 << 20 | static_cast<int>(at) << 8;
        CHECK(MPIX_Comm_iagree(comms[at], &flags[at], &requests[at]) == MPI_SUCCESS);
    }
    CHECK(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < n; ++i)
        CHECK(flags[static_cast<size_t>(i)] == (1 << 20 | i << 8 | (size_ == 1 ? 1 : 0)));
}

// Two on one communicator, completed in order, and one completed out of order.
void begin_twice(MPI_Comm comm) {
    int flags[2] = {3 + 8 * rank_, 7};
    MPI_Comm rest = MPI_COMM_NULL;
    MPI_Request requests[3];
    CHECK(MPIX_Comm_iagree(comm, &flags[0], &requests[0]) == MPI_SUCCESS);
    CHECK(MPIX_Comm_iagree(comm, &flags[1], &requests[1]) == MPI_SUCCESS);
    CHECK(MPIX_Comm_ishrink(comm, &rest, &requests[2]) == MPI_SUCCESS);
    int done = 0;
    while (done == 0) MPI_Test(&requests[2], &done, MPI_STATUS_IGNORE);
    int sum = 1;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, rest) == MPI_SUCCESS && sum == size_);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK((flags[0] & 7) == 3 && flags[1] == 7);
    CHECK(MPI_Comm_free(&rest) == MPI_SUCCESS);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv, MPI_THREAD_MULTIPLE);
    int* tolerant = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, static_cast<void*>(&tolerant), &found);
    CHECK(found == 1 && *tolerant == (argc > 1 ? 1 : 0)); // any argument: started with --keep-going
    std::vector<MPI_Comm> comms(16);
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] { agree_repeatedly(comms[static_cast<size_t>(t)], t); });
    for (std::thread& t : all) t.join();
    for (int i = 0; i < rounds; ++i) begin_many(comms);
    begin_twice(comms[0]);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
    session.end("agree_threads");
    return 0;
}
