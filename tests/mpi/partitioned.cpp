// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Partitioned communication in a ring: equal and unequal numbers of partitions on both sides, partitions
// marked ready in any order and by several threads, channels with equal tags that start in another order than
// they were initialized.
#include "check.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

struct Ring {
    std::vector<int> out, in;
    MPI_Request send, recv;
    Ring(int send_parts, int recv_parts, int total, int tag)
        : out(static_cast<size_t>(total))
        , in(static_cast<size_t>(total)) {
        MPI_Psend_init(out.data(), send_parts, total / send_parts, MPI_INT, next(), tag, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &send);
        MPI_Precv_init(in.data(), recv_parts, total / recv_parts, MPI_INT, previous(), tag, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &recv);
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        MPI_Request_free(&send);
        MPI_Request_free(&recv);
    }
    [[nodiscard]] int total() const { return static_cast<int>(out.size()); }
};

void rounds(int send_parts, int recv_parts, int total) {
    Ring ring(send_parts, recv_parts, total, 3);
    std::mt19937 random(static_cast<unsigned>(rank_ + send_parts));
    const int block = total / recv_parts;
    int flag = 0;
    MPI_Parrived(ring.recv, 0, &flag);
    CHECK(flag == 1 || portable_); // not active
    for (int round = 0; round < 6; ++round) {
        renumber(ring.out, 1000 * round + rank_);
        std::fill(ring.in.begin(), ring.in.end(), -1);
        if (round % 2 == 0) MPI_Start(&ring.recv);
        MPI_Start(&ring.send);
        auto order = numbers(send_parts, 0);
        std::shuffle(order.begin(), order.end(), random);
        if (round % 3 == 0)
            for (const int p : order) MPI_Pready(p, ring.send);
        else if (round % 3 == 1)
            MPI_Pready_list(send_parts, order.data(), ring.send);
        else
            MPI_Pready_range(0, send_parts - 1, ring.send);
        if (round % 2 == 1) MPI_Start(&ring.recv);
        const auto expected = numbers(total, 1000 * round + previous());
        for (int p = 0; p < recv_parts; ++p) {
            flag = 0;
            while (flag == 0) MPI_Parrived(ring.recv, p, &flag);
            CHECK(std::equal(ring.in.begin() + p * block, ring.in.begin() + (p + 1) * block,
                             expected.begin() + p * block));
        }
        MPI_Status statuses[2];
        MPI_Request both[] = {ring.recv, ring.send};
        MPI_Waitall(2, both, statuses);
        CHECK(both[0] == ring.recv && statuses[0].MPI_SOURCE == previous() && statuses[0].MPI_TAG == 3);
        CHECK(count_of(statuses[0]) == total && ring.in == expected);
    }
}

// A partition that is not ready does not arrive, and the send does not complete before all are ready.
void no_early_arrival() {
    Ring ring(2, 2, 20, 4);
    renumber(ring.out, rank_);
    MPI_Start(&ring.recv);
    MPI_Start(&ring.send);
    MPI_Pready(1, ring.send);
    int flag = 0;
    while (flag == 0) MPI_Parrived(ring.recv, 1, &flag);
    MPI_Parrived(ring.recv, 0, &flag);
    CHECK(flag == 0);
    MPI_Test(&ring.send, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pready(0, ring.send);
    MPI_Wait(&ring.send, MPI_STATUS_IGNORE);
    MPI_Wait(&ring.recv, MPI_STATUS_IGNORE);
    CHECK(ring.in == numbers(20, previous()));
}

// Matched in initialization order; one pair in between is freed unused.
void same_tag() {
    Ring a(2, 4, 40, 5);
    { const Ring unused(8, 1, 8, 5); }
    Ring b(4, 1, 40, 5);
    renumber(a.out, 100 + rank_);
    renumber(b.out, 200 + rank_);
    MPI_Start(&b.send);
    MPI_Pready_range(0, 3, b.send);
    MPI_Start(&a.recv);
    MPI_Start(&a.send);
    MPI_Pready_range(0, 1, a.send);
    MPI_Start(&b.recv);
    for (Ring* r : {&b, &a}) {
        MPI_Wait(&r->recv, MPI_STATUS_IGNORE);
        MPI_Wait(&r->send, MPI_STATUS_IGNORE);
    }
    CHECK(a.in == numbers(40, 100 + previous()) && b.in == numbers(40, 200 + previous()));
    // Partitioned messages do not match other receives.
    int flag = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
}

void threads() {
    constexpr int workers = 4;
    Ring ring(32, 32, 32 * 2000, 6);
    for (int round = 0; round < 5; ++round) {
        MPI_Start(&ring.recv);
        MPI_Start(&ring.send);
        std::vector<std::thread> team;
        for (int w = 0; w < workers; ++w)
            team.emplace_back([&ring, w, round] {
                for (int p = w; p < 32; p += workers) {
                    for (int i = p * 2000; i < (p + 1) * 2000; ++i)
                        ring.out[static_cast<size_t>(i)] = i + round + rank_;
                    MPI_Pready(p, ring.send);
                }
            });
        for (std::thread& t : team) t.join();
        MPI_Wait(&ring.recv, MPI_STATUS_IGNORE);
        MPI_Wait(&ring.send, MPI_STATUS_IGNORE);
        CHECK(ring.in == numbers(32 * 2000, round + previous()));
    }
}

void proc_null() {
    int value = 1;
    MPI_Request send;
    MPI_Request recv;
    MPI_Psend_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &recv);
    MPI_Start(&send);
    MPI_Start(&recv);
    MPI_Pready(0, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&recv, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

void errors() {
    Ring ring(4, 4, 8, 7);
    CHECK(MPI_Pready(0, ring.send) != MPI_SUCCESS); // not started
    MPI_Start(&ring.recv);
    MPI_Start(&ring.send);
    CHECK(MPI_Pready(4, ring.send) != MPI_SUCCESS);
    CHECK(MPI_Pready(0, ring.recv) != MPI_SUCCESS);
    MPI_Pready_range(0, 3, ring.send);
    CHECK(MPI_Pready(0, ring.send) != MPI_SUCCESS); // twice
    MPI_Wait(&ring.recv, MPI_STATUS_IGNORE);
    MPI_Wait(&ring.send, MPI_STATUS_IGNORE);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv, MPI_THREAD_MULTIPLE);
    const int parts[][2] = {{1, 1}, {8, 8}, {1, 16}, {16, 2}, {16, 32}, {33, 17}, {17, 33}};
    for (const auto& p : parts)
        for (const int k : {1, 40, 3000}) rounds(p[0], p[1], p[0] * p[1] * k);
    if (!portable_) no_early_arrival(); // other libraries may wait until all partitions are ready
    same_tag();
    threads();
    if (!portable_) proc_null();
    if (!portable_) errors();
    session.end("partitioned");
}
