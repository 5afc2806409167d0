// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A flood of messages without receives, from all ranks to rank 0, and of broadcasts: the receiver's memory
// stays within its budget, and all messages arrive in order. The tests set p2p.unexpected_peer_limit to 1
// MiB. Arguments: number of messages of a sender, MiB by which the receiver may grow.
#include "check.hpp"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace {

constexpr int flood_tag = 3;
constexpr int absent_tag = 4;

long resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    long total = 0;
    long resident = 0;
    statm >> total >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

// Sizes up to a few KiB.
int words_of(int i) { return 1 + i * 7919 % (i % 8 == 0 ? 1024 : 64); }

int value_of(int source, int i) { return source << 24 | i; }

// Every 16th message is noncontiguous.
void send_one(int i, MPI_Datatype strided) {
    std::vector<int> data(static_cast<size_t>(words_of(i)) * 2, value_of(rank_, i));
    MPI_Send(data.data(), words_of(i), i % 16 == 5 ? strided : MPI_INT, 0, flood_tag, MPI_COMM_WORLD);
}

// Checks that it is the next message of its sender.
void receive_one(int from, std::vector<int>& received) {
    std::vector<int> data(1024, -1);
    MPI_Status status;
    MPI_Recv(data.data(), 1024, MPI_INT, from, flood_tag, MPI_COMM_WORLD, &status);
    const int i = received[static_cast<size_t>(status.MPI_SOURCE)]++;
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == words_of(i));
    const int expected = value_of(status.MPI_SOURCE, i);
    CHECK(std::all_of(data.begin(), data.begin() + count, [expected](int v) { return v == expected; }));
}

// Makes progress for this time without a matching receive; returns the bytes by which this process has grown.
long look_elsewhere(double seconds) {
    const long before = resident_bytes();
    int found = 0;
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        MPI_Iprobe(MPI_ANY_SOURCE, absent_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    CHECK(found == 0);
    return resident_bytes() - before;
}

void check_growth(const char* what, long bytes, long limit) {
    if (bytes > limit) std::fprintf(stderr, "%s: %ld bytes for unexpected messages\n", what, bytes);
    CHECK(bytes <= limit);
}

// The first half by source, the second half from any source.
void flood_messages(int messages, long limit) {
    MPI_Datatype strided = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &strided);
    MPI_Type_commit(&strided);
    if (rank_ == 0) {
        check_growth("messages", look_elsewhere(1), limit);
        std::vector<int> received(static_cast<size_t>(size_));
        for (int i = 0; i < messages / 2; ++i)
            for (int from = 1; from < size_; ++from) receive_one(from, received);
        for (int i = messages / 2 * (size_ - 1); i < messages * (size_ - 1); ++i)
            receive_one(MPI_ANY_SOURCE, received);
    } else {
        for (int i = 0; i < messages; ++i) send_one(i, strided);
    }
    MPI_Type_free(&strided);
}

// The root of a broadcast need not wait for the others.
void flood_broadcasts(int broadcasts, long limit) {
    if (rank_ == 0) check_growth("broadcasts", look_elsewhere(0.5), limit);
    for (int i = 0; i < broadcasts; ++i) {
        int data[32];
        std::fill(std::begin(data), std::end(data), rank_ == 1 ? i : -1);
        MPI_Bcast(data, 32, MPI_INT, 1, MPI_COMM_WORLD);
        CHECK(std::all_of(std::begin(data), std::end(data), [i](int v) { return v == i; }));
    }
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    const int messages = argc > 1 ? std::atoi(argv[1]) : 100000;
    const long limit = (argc > 2 ? std::atol(argv[2]) : 8) << 20;
    MPI_Barrier(MPI_COMM_WORLD);
    flood_messages(messages, limit);
    MPI_Barrier(MPI_COMM_WORLD);
    flood_broadcasts(messages, limit);
    session.end("unexpected");
}
