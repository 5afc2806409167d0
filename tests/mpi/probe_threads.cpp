// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A thread that waits in a probe must notice a message that another thread sends to the same rank: no other
// process can wake it. The send is synchronous, so that it cannot complete before.
#include "check.hpp"
#include <chrono>
#include <thread>

namespace {

constexpr int rounds = 10;
constexpr auto nap = std::chrono::milliseconds(20); // the probe sleeps after this time
constexpr double late_seconds = 0.8;                // without a wakeup the probe polls again after a second
constexpr int most_late = 1;                        // tolerates one delay of the machine

void send_to_self(int value) {
    std::this_thread::sleep_for(nap);
    MPI_Ssend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
}

void receive_probed(bool matched, int expected) {
    int value = 0;
    if (matched) {
        MPI_Message message;
        MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Probe(0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    CHECK(value == expected);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv, MPI_THREAD_MULTIPLE);
    int late = 0;
    for (int i = 0; i < rounds; ++i) {
        const double begin = MPI_Wtime();
        std::thread sender(send_to_self, i);
        receive_probed(i % 2 == 0, i);
        sender.join();
        if (MPI_Wtime() - begin > late_seconds) ++late;
    }
    CHECK(late <= most_late);
    session.end("probe_threads");
    return 0;
}
