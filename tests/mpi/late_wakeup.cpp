// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A missed wakeup: the program violates the standard, a second thread completes a request although MPI was
// initialized for one thread, and so the library sends no wakeup. With wait.fail_on_missed_wakeup the rank
// exits with status 1.
#include "check.hpp"

#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

// The state of the main thread, after the program name in parentheses.
bool main_thread_sleeps() {
    std::string line;
    std::getline(std::ifstream("/proc/self/stat"), line);
    return line.compare(line.rfind(')'), 3, ") S") == 0;
}

// Short sleeps, of which there are others, do not last for 100 polls in a row.
void wait_until_main_sleeps() {
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
        wait_until_main_sleeps();
        MPI_Grequest_complete(copy);
    });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    other.join();
    session.end("late_wakeup");
    return 0;
}
