// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank of a node reads the hardware topology, slowly (slow_machine.cpp), while the others sleep until it
// is available. usage: localities slow: they are woken; localities dies: with mpiexec --keep-going, the rank
// is killed while reading and another takes over.
#include "check.hpp"
#include "counted.hpp"

#include <string>
#include <unistd.h>

namespace {

int make_grid(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    const int periods = 0;
    MPI_Comm grid = MPI_COMM_NULL;
    const int code = MPI_Cart_create(comm, 1, &size, &periods, 1, &grid);
    if (code == MPI_SUCCESS) MPI_Comm_free(&grid);
    return code;
}

// The file exists while a rank reads the topology. All ranks derive its name from their common parent.
std::string flag() { return "/tmp/places-" + std::to_string(getppid()); }

// No rank reads the topology before the others can notice it; rank 0 begins.
void begin() {
    setenv("SLOW_MACHINE_MS", "300", 1);
    setenv("SLOW_MACHINE_FLAG", flag().c_str(), 1);
    if (rank_ == 0) unlink(flag().c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    for (int ms = 0; rank_ != 0 && access(flag().c_str(), F_OK) != 0 && ms < 10'000; ++ms) usleep(1000);
}

// A call that needs localities and sends nothing; messages would wake sleeping ranks.
void map_grid() {
    const int periods = 0;
    int place = 0;
    CHECK(MPI_Cart_map(MPI_COMM_WORLD, 1, &size_, &periods, &place) == MPI_SUCCESS);
}

void slow_discovery() {
    const Counted late("counter.missed_wakeups");
    begin();
    const Counted sleeps("counter.sleeps");
    map_grid();
    if (rank_ == 0) usleep(1'200'000); // longer than the safety timeout of a sleep
    CHECK(sleeps.sum_of_all() > 0);    // otherwise nothing was tested
    CHECK(late.sum_of_all() == 0);
    CHECK(make_grid(MPI_COMM_WORLD) == MPI_SUCCESS);
}

void failed_discovery() {
    const Counted late("counter.missed_wakeups");
    if (rank_ == 0) setenv("SLOW_MACHINE_DIES", "1", 1);
    begin();
    CHECK(class_of(make_grid(MPI_COMM_WORLD)) == MPIX_ERR_PROC_FAILED);
    CHECK(late.value() == 0);
    MPI_Comm rest = MPI_COMM_NULL;
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &rest) == MPI_SUCCESS);
    CHECK(make_grid(rest) == MPI_SUCCESS);
    MPI_Comm_free(&rest);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    const std::string which = argc > 1 ? argv[1] : "";
    if (which == "slow") slow_discovery();
    if (which == "dies") failed_discovery();
    if (rank_ == size_ - 1) unlink(flag().c_str()); // all ranks have seen it by now
    MPI_Finalize();
    if (rank_ == size_ - 1) std::printf("localities: ok\n");
    return 0;
}
