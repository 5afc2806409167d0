// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Two or four ranks. Programs find unknown peers in rounds of MPI_Issend, MPI_Iprobe and MPI_Ibarrier with
// one tag. A probe must not find a message of the next round before the program has seen the end of the
// barrier, also while a part of the barrier that comes from another rank is missing (four ranks). Without a
// barrier in flight it finds a message that has arrived in its first call.
#include "check.hpp"

#include <atomic>
#include <thread>

namespace {

enum class Probe { plain, matched };

// Number of the last message that rank 0 has sent, in memory that both ranks share: rank 1 waits for it
// without MPI messages.
class LastSent {
  public:
    LastSent() {
        void* memory = nullptr;
        MPI_Win_allocate_shared(rank_ == 0 ? sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                                &window_);
        MPI_Aint bytes = 0;
        int unit = 0;
        MPI_Win_shared_query(window_, 0, &bytes, &unit, &memory);
        number_ = static_cast<int*>(memory);
        if (rank_ == 0) *number_ = 0;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~LastSent() { MPI_Win_free(&window_); }
    LastSent(const LastSent&) = delete;
    LastSent& operator=(const LastSent&) = delete;

    void send(int number) const {
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        set(number);
    }
    void set(int number) const { std::atomic_ref(*number_).store(number, std::memory_order_release); }
    template <class Between>
    void await(int number, const Between& between) const {
        while (std::atomic_ref(*number_).load(std::memory_order_acquire) < number) between();
    }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    int* number_ = nullptr;
};

bool finds_message(Probe how, MPI_Message& message) {
    int flag = 0;
    if (how == Probe::plain)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    else
        MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    return flag != 0;
}

void receive(Probe how, MPI_Message& message, int number) {
    int value = 0;
    if (how == Probe::plain)
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(value == number);
}

void next_round(const LastSent& last, Probe how, int number) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    if (rank_ == 0) {
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        return last.send(number);
    }
    // The barrier needs progress; the message may arrive meanwhile, too.
    MPI_Request other = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, &other);
    int flag = 0;
    last.await(number, [&] { MPI_Test(&other, &flag, MPI_STATUS_IGNORE); });
    MPI_Message message = MPI_MESSAGE_NULL;
    CHECK(!finds_message(how, message));
    MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
    CHECK(flag != 0);
    CHECK(finds_message(how, message));
    receive(how, message, number);
    MPI_Send(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
}

void first_call(const LastSent& last, Probe how, int number) {
    if (rank_ == 0) return last.send(number);
    last.await(number, std::this_thread::yield);
    MPI_Message message = MPI_MESSAGE_NULL;
    CHECK(finds_message(how, message));
    receive(how, message, number);
}

// Rank 3 enters the barrier first and then stays out of MPI, so that rank 1 misses its second message of the
// barrier. Rank 0 does not need that one: it ends the barrier and begins the next round.
void round_of_four(const LastSent& step, Probe how, int number) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Request sent = MPI_REQUEST_NULL;
    const auto enter = [&] { MPI_Ibarrier(MPI_COMM_WORLD, &barrier); };
    int flag = 0;
    if (rank_ == 3) {
        enter();
        step.set(number);
        step.await(number + 3, std::this_thread::yield);
    } else {
        step.await(number, std::this_thread::yield);
        enter();
    }
    if (rank_ == 0) {
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        MPI_Issend(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &sent);
        step.set(number + 1);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    if (rank_ == 1) {
        MPI_Message message = MPI_MESSAGE_NULL;
        step.await(number + 1, [&] { CHECK(!finds_message(how, message)); });
        for (int i = 0; i < 100; ++i) CHECK(!finds_message(how, message));
        step.set(number + 3);
        while (flag == 0) {
            CHECK(!finds_message(how, message));
            MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
        }
        while (!finds_message(how, message)) {
        }
        receive(how, message, number);
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    {
        const LastSent last;
        int number = 0;
        for (const Probe how : {Probe::plain, Probe::matched}) {
            for (int i = 0; size_ == 4 && i < 50; ++i, number += 4) round_of_four(last, how, number + 1);
            for (int i = 0; size_ == 2 && i < 20; ++i) next_round(last, how, ++number);
            for (int i = 0; size_ == 2 && i < 20; ++i) first_call(last, how, ++number);
        }
    }
    session.end("probe_rounds");
}
