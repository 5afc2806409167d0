// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A wake-up that is missing: the program breaks the rules, a second thread completes a request although MPI
// was started for one thread, and so the library wakes nobody. With wait.demand_wakes the rank ends with
// status 1.
#include "check.hpp"

#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

// The state of the main thread: behind the name of the program, which is in parentheses.
bool main_thread_sleeps() {
    std::string line;
    std::getline(std::ifstream("/proc/self/stat"), line);
    return line.compare(line.rfind(')'), 3, ") S") == 0;
}

// A sleep for a moment, of which there are others, does not last for 100 looks in a row.
void wait_until_the_rank_sleeps() {
    int in_a_row = 0;
    for (int ms = 0; in_a_row < 100 && ms < 10'000; ++ms) {
        in_a_row = main_thread_sleeps() ? in_a_row + 1 : 0;
        usleep(1000);
    }
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    const auto query = [](void*, MPI_Status* status) { return MPI_Status_set_elements(status, MPI_BYTE, 0); };
    const auto done = [](void*) { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) { return MPI_SUCCESS; };
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_Grequest_start(query, done, cancel, nullptr, &request) == MPI_SUCCESS);
    std::thread other([copy = request] {
        wait_until_the_rank_sleeps();
        MPI_Grequest_complete(copy);
    });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    other.join();
    session.end("late_wake");
    return 0;
}
