// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many nonblocking sends to one rank at a time, of all sizes around the limits of message aggregation: they
// arrive complete and in order, and have been sent when the sender's wait returns.
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <iterator>
#include <thread>

namespace {

constexpr int burst = 40;

int bytes_of(int round, int i) {
    constexpr int around[] = {0, 1, 40, 41, 500, 4000, 4095, 4096, 4097, 16000, 70000};
    return around[static_cast<size_t>(round * 7 + i * (round % 3 + 1)) % std::size(around)];
}

char content(int round, int i, int at) { return static_cast<char>(round * 31 + i * 7 + at); }

// Every third message is blocking, every fifth noncontiguous.
void send_burst(int to, int round) {
    std::vector<std::vector<char>> data(burst);
    std::vector<MPI_Request> requests;
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_CHAR, 0, 2, &spread);
    MPI_Type_commit(&spread);
    for (int i = 0; i < burst; ++i) {
        const int bytes = bytes_of(round, i);
        const bool gaps = i % 5 == 4;
        const int step = gaps ? 2 : 1;
        data[static_cast<size_t>(i)].resize(static_cast<size_t>(bytes * step + 1));
        char* const out = data[static_cast<size_t>(i)].data();
        for (int k = 0; k < bytes; ++k) out[static_cast<ptrdiff_t>(k) * step] = content(round, i, k);
        if (round % 2 == 1 && i % 3 == 2) {
            MPI_Send(out, bytes, gaps ? spread : MPI_CHAR, to, 7, MPI_COMM_WORLD);
        } else {
            MPI_Isend(out, bytes, gaps ? spread : MPI_CHAR, to, 7, MPI_COMM_WORLD, &requests.emplace_back());
        }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Type_free(&spread);
}

void receive_burst(int from, int round) {
    std::vector<char> in(1 << 17);
    for (int i = 0; i < burst; ++i) {
        MPI_Status status;
        int bytes = 0;
        MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_CHAR, from, 7, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        CHECK(bytes == bytes_of(round, i));
        for (int k = 0; k < bytes; ++k) CHECK(in[static_cast<size_t>(k)] == content(round, i, k));
    }
}

// Computes outside MPI until the receiver signals completion through shared memory.
void compute_until_all_arrived(int* seen) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (std::atomic_ref(*seen).load() == 0) {
        CHECK(Clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Small enough for eager sends: the sender computes as soon as its wait returns. common: a word visible to
// both ranks, or null if they are on different hosts.
void arrive_while_the_sender_computes(int peer, bool sends, int* common) {
    using namespace std::chrono_literals;
    constexpr int count = 20;
    constexpr double long_enough = 1.0;
    std::vector<int> values(count);
    std::vector<MPI_Request> requests(count);
    int seen = 0;
    if (sends) {
        renumber(values, 5);
        for (int i = 0; i < count; ++i)
            MPI_Isend(&values[static_cast<size_t>(i)], 1, MPI_INT, peer, 8, MPI_COMM_WORLD,
                      &requests[static_cast<size_t>(i)]);
        MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
        const double begin = MPI_Wtime();
        if (common != nullptr) compute_until_all_arrived(common);
        while (common == nullptr && MPI_Wtime() - begin < 2 * long_enough) std::this_thread::sleep_for(10ms);
        MPI_Recv(&seen, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(seen == count);
        return;
    }
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
        MPI_Recv(&seen, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(seen == 5 + i);
    }
    if (common != nullptr)
        std::atomic_ref(*common).store(1);
    else
        CHECK(MPI_Wtime() - begin < long_enough);
    MPI_Send(&count, 1, MPI_INT, peer, 9, MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    const int half = size_ / 2;
    const bool sends = rank_ < half;
    const bool takes_part = rank_ < 2 * half;
    const int peer = sends ? rank_ + half : rank_ - half;
    for (int round = 0; round < 30 && takes_part; ++round) {
        if (sends == (round % 4 < 2))
            send_burst(peer, round);
        else
            receive_burst(peer, round);
    }
    int* common = nullptr; // memory of the sender, if the ranks share memory
    MPI_Win win = MPI_WIN_NULL;
    if (on_one_host()) {
        MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &common, &win);
        *common = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Aint bytes = 0;
        int unit = 0;
        if (takes_part) MPI_Win_shared_query(win, sends ? rank_ : peer, &bytes, &unit, &common);
    }
    if (takes_part) arrive_while_the_sender_computes(peer, sends, common);
    if (win != MPI_WIN_NULL) MPI_Win_free(&win);
    session.end("bursts");
    return 0;
}
