// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Context ids are reused: very many communicators in sequence, many at a time, and a communicator that was
// freed while a message on it is in flight. Arguments: cycles=N, of one process; shared=N, of all.
#include "check.hpp"

namespace {

int argument(int argc, char** argv, const char* name, int otherwise) {
    const size_t length = std::strlen(name);
    for (int i = 1; i < argc; ++i)
        if (std::strncmp(argv[i], name, length) == 0) return std::atoi(argv[i] + length);
    return otherwise;
}

void cycles(MPI_Comm comm, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        MPI_Comm copy = MPI_COMM_NULL;
        CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
        CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS);
    }
}

int sum_on(MPI_Comm comm, int value) {
    int sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

// All are different: each receives its own message.
void many_at_once(int n) {
    std::vector<MPI_Comm> comms(static_cast<size_t>(n));
    std::vector<MPI_Request> requests(comms.size());
    std::vector<int> in(comms.size());
    for (MPI_Comm& c : comms) CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &c) == MPI_SUCCESS);
    const int next = (rank_ + 1) % size_;
    for (size_t i = 0; i < comms.size(); ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[i]);
    for (size_t i = comms.size(); i-- > 0;) {
        const int out = static_cast<int>(i);
        MPI_Send(&out, 1, MPI_INT, next, 0, comms[i]);
    }
    MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < comms.size(); ++i) CHECK(in[i] == static_cast<int>(i));
    for (size_t i = 0; i < comms.size(); i += 2) MPI_Comm_free(&comms[i]);
    CHECK(sum_on(comms[1], 1) == size_);
    for (size_t i = 1; i < comms.size(); i += 2) MPI_Comm_free(&comms[i]);
}

// A pending receive keeps the freed communicator and its context: a new one must not get its message.
void freed_with_a_receive_pending() {
    MPI_Comm first = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    const int next = (rank_ + 1) % size_;
    int in = -1;
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, first, &receive);
    const int out = 4711;
    if (rank_ != 0) MPI_Isend(&out, 1, MPI_INT, next, 5, first, &send);
    MPI_Comm kept = first;
    if (rank_ != 0) MPI_Comm_free(&first);
    for (int i = 0; i < 100; ++i) {
        MPI_Comm other = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        int got = -1;
        MPI_Sendrecv(&i, 1, MPI_INT, next, 5, &got, 1, MPI_INT, MPI_ANY_SOURCE, 5, other, MPI_STATUS_IGNORE);
        CHECK(got == i);
        MPI_Comm_free(&other);
    }
    if (rank_ == 0) {
        MPI_Isend(&out, 1, MPI_INT, next, 5, kept, &send);
        MPI_Comm_free(&first);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(in == 4711);
}

// Communicators of one process, created in all ways: a message on one is not received on another.
void on_self() {
    std::vector<MPI_Comm> comms;
    for (int i = 0; i < 20; ++i) {
        comms.emplace_back();
        MPI_Comm_dup(MPI_COMM_SELF, &comms.back());
        comms.emplace_back();
        MPI_Comm_split(MPI_COMM_WORLD, rank_, 0, &comms.back());
        comms.emplace_back();
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comms.back());
    }
    std::vector<int> in(comms.size());
    std::vector<MPI_Request> requests(comms.size());
    for (size_t i = 0; i < comms.size(); ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[i]);
    for (size_t i = comms.size(); i-- > 0;) {
        const int out = static_cast<int>(i);
        MPI_Send(&out, 1, MPI_INT, 0, 0, comms[i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < comms.size(); ++i) CHECK(in[i] == static_cast<int>(i));
    for (MPI_Comm& c : comms) MPI_Comm_free(&c);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    on_self();
    cycles(MPI_COMM_SELF, argument(argc, argv, "cycles=", 1000));
    cycles(MPI_COMM_WORLD, argument(argc, argv, "shared=", 1000));
    many_at_once(size_ <= 2 ? 3000 : 300);
    many_at_once(300);
    freed_with_a_receive_pending();
    on_self();
    session.end("contexts");
}
