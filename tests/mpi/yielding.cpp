// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// More ranks than CPUs: a nonblocking call that finds nothing yields each time while all ranks are awake,
// since another one could run, and only now and then while the others sleep. A blocking call yields for
// wait.extra_yield_us before it sleeps if the ranks are at most twice as many as the CPUs ("long"), and a few
// times if they are more ("short") unless those that are awake have a CPU each ("long_of_last": all but one
// rank wait, the last of them yields on). So it does for wait.own_cpu_yield_us, also with a CPU for each
// rank, unless another process uses the CPUs ("short_beside": threads of rank 0 do; "long_alone": none does,
// or the test cannot tell).
// One rank per node ("nodes"): nonblocking calls yield now and then, since nodes may share CPUs. One rank
// whose CPU has a rank of another node or job ("shared_cpu"): they yield each time; if it has none
// ("own_cpu"), seldom.
#include "check.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <string_view>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

int yields = 0;

constexpr int polls = 256;
constexpr int often = polls * 3 / 4; // an event may arrive meanwhile
constexpr int seldom = polls / 8;

int yields_of_polls() {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    yields = 0;
    for (int i = 0; i < polls; ++i) {
        int flag = 0;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0);
    }
    const int counted = yields;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return counted;
}

void while_all_are_awake() {
    std::atomic<int>* arrived = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate_shared(rank_ == 0 ? sizeof *arrived : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &arrived,
                            &win);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(win, 0, &size, &unit, &arrived);
    if (rank_ == 0) arrived->store(0);
    MPI_Barrier(MPI_COMM_WORLD);
    const auto meet = [&](int times) { // without MPI, where a rank may sleep
        arrived->fetch_add(1);
        while (arrived->load() < times * size_) usleep(100);
    };
    meet(1);
    const int counted = yields_of_polls();
    meet(2);
    CHECK(counted >= often);
    MPI_Win_free(&win);
}

void while_others_sleep() {
    int value = 0;
    if (rank_ != 0) {
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    int counted = polls;
    for (int attempt = 0; attempt < 1000 && counted > seldom; ++attempt) {
        usleep(10000); // until the others sleep, of which there is no event
        counted = yields_of_polls();
    }
    CHECK(counted <= seldom);
    for (int to = 1; to < size_; ++to) MPI_Send(&value, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
}

void between_nodes() {
    int most = 0;
    for (int attempt = 0; attempt < 10; ++attempt) most = std::max(most, yields_of_polls());
    CHECK(most > 0 && most <= seldom);
}

// The launcher may tell the rank after its start: it polls again until then.
void on_shared_cpu() {
    int counted = 0;
    for (int attempt = 0; attempt < 200 && counted < often; ++attempt) {
        usleep(20000);
        counted = yields_of_polls();
    }
    CHECK(counted >= often);
}

void on_own_cpu() { CHECK(yields_of_polls() <= seldom); }

// The yields of a rank that waits for a message for 20 ms.
int yields_of_wait() {
    int value = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    yields = 0;
    if (rank_ == 0) {
        usleep(20000); // the wait that is measured
        for (int to = 1; to < size_; ++to) MPI_Send(&value, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
        return 0;
    }
    MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return yields;
}

// A thread that the library does not know needs a CPU.
class OtherWork {
  public:
    OtherWork() = default;
    OtherWork(const OtherWork&) = delete;
    OtherWork& operator=(const OtherWork&) = delete;
    ~OtherWork() {
        over_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> over_ = false;
    std::thread thread_{[this] {
        while (!over_) {
        }
    }};
};

// More threads of the host want a CPU than there are ranks.
bool host_is_busy() {
    std::ifstream loadavg("/proc/loadavg");
    double average = 0;
    int runnable = 0;
    loadavg >> average >> average >> average >> runnable;
    return runnable > size_;
}

void while_a_call_blocks(std::string_view expected) {
    const bool is_long = expected != "short";
    const int attempts = is_long ? 20 : 1; // another process may use the CPU now and then
    int busy_attempts = 0;
    bool was_long = false;
    for (int i = 0; i < attempts && !was_long; ++i) {
        int most = 0;
        const int own = yields_of_wait();
        if (host_is_busy()) ++busy_attempts;
        MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        was_long = most > 100;
    }
    MPI_Bcast(&busy_attempts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const bool can_tell = expected != "long_alone" || was_long || busy_attempts < attempts / 2;
    if (can_tell) CHECK(was_long == is_long);
}

} // namespace

// In place of the C library's.
extern "C" int sched_yield() noexcept {
    ++yields;
    return static_cast<int>(syscall(SYS_sched_yield));
}

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    const std::string_view part = argc > 1 ? argv[1] : "";
    if (part == "nodes") {
        between_nodes();
    } else if (part == "shared_cpu") {
        on_shared_cpu();
    } else if (part == "own_cpu") {
        on_own_cpu();
    } else if (part == "short_beside") {
        std::optional<OtherWork> beside[2]; // one could be rank 0, which has not told that it sleeps
        for (auto& work : beside)
            if (rank_ == 0) work.emplace();
        while_a_call_blocks("short");
    } else if (!part.empty()) {
        while_a_call_blocks(part);
    } else {
        while_all_are_awake();
        while_others_sleep();
    }
    session.end("yielding");
}
