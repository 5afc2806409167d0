// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A wake-up that is missing: the program breaks the rules, a second thread completes a request although MPI
// was started for one thread, and so the library wakes nobody. With wait.demand_wakes the rank ends with
// status 1.
#include "check.hpp"

#include <thread>
#include <unistd.h>

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    const auto query = [](void*, MPI_Status* status) { return MPI_Status_set_elements(status, MPI_BYTE, 0); };
    const auto done = [](void*) { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) { return MPI_SUCCESS; };
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_Grequest_start(query, done, cancel, nullptr, &request) == MPI_SUCCESS);
    std::thread other([copy = request] {
        usleep(200'000); // until the rank sleeps
        MPI_Grequest_complete(copy);
    });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    other.join();
    session.end("late_wake");
    return 0;
}
