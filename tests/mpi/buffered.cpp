// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffered sends and their buffers. Every rank sends to the next one (to itself in a job of one rank).
#include "check.hpp"

namespace {

int next() { return (rank_ + 1) % size_; }
int previous() { return (rank_ + size_ - 1) % size_; }

void expect(int n, int first, int tag, MPI_Comm comm) {
    std::vector<int> in(static_cast<size_t>(n) + 1, -1);
    MPI_Status status;
    MPI_Recv(in.data(), n + 1, MPI_INT, previous(), tag, comm, &status);
    CHECK(count_of(status) == n);
    in.pop_back();
    CHECK(in == numbers(n, first));
}

// The buffer has exactly the size that the standard requires: all messages must fit before any is received.
void exact_size() {
    const int bytes = 4;
    int needed = 0;
    for (const int n : lengths) needed += n * bytes + MPI_BSEND_OVERHEAD;
    std::vector<char> buffer(static_cast<size_t>(needed) + 1);
    MPI_Buffer_attach(buffer.data() + 1, needed); // not aligned
    int tag = 0;
    for (const int n : lengths) {
        auto data = numbers(n, 7 * n);
        CHECK(MPI_Bsend(data.data(), n, MPI_INT, next(), tag++, MPI_COMM_WORLD) == MPI_SUCCESS);
        renumber(data, -n); // the copy in the buffer is sent
    }
    tag = 0;
    for (const int n : lengths) expect(n, 7 * n, tag++, MPI_COMM_WORLD);
    void* memory = nullptr;
    int size = 0;
    MPI_Buffer_detach(&memory, &size);
    CHECK(memory == buffer.data() + 1 && size == needed);
}

// Buffer space is released when messages are delivered, in any order.
void reuse() {
    const int n = 20000;
    std::vector<char> buffer(3 * (n * 4 + MPI_BSEND_OVERHEAD));
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    for (int round = 0; round < 30; ++round) {
        for (int k = 0; k < 3; ++k) {
            auto data = numbers(n - 1000 * k, round + k);
            CHECK(MPI_Bsend(data.data(), n - 1000 * k, MPI_INT, next(), k, MPI_COMM_WORLD) == MPI_SUCCESS);
        }
        for (int k = 2; k >= 0; --k) expect(n - 1000 * k, round + k, k, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD); // all messages are received: the next round finds space
    }
    void* memory = nullptr;
    int size = 0;
    MPI_Buffer_detach(&memory, &size);
    CHECK(size == static_cast<int>(buffer.size()));
}

void requests() {
    std::vector<char> buffer(2 * (40000 + MPI_BSEND_OVERHEAD));
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    auto data = numbers(10000, 3);
    MPI_Request request;
    MPI_Ibsend(data.data(), 10000, MPI_INT, next(), 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); // local completion: no receive is posted yet
    CHECK(request == MPI_REQUEST_NULL);
    expect(10000, 3, 1, MPI_COMM_WORLD);
    MPI_Bsend_init(data.data(), 10000, MPI_INT, next(), 2, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 5; ++i) {
        renumber(data, i);
        MPI_Start(&request);
        MPI_Status status;
        MPI_Wait(&request, &status);
        CHECK(request != MPI_REQUEST_NULL);
        renumber(data, -5);
        expect(10000, i, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
    CHECK(MPI_Bsend(data.data(), 10, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD) == MPI_SUCCESS);
    void* memory = nullptr;
    int size = 0;
    MPI_Buffer_detach(&memory, &size);
}

// More than fits into the buffer, as the first messages between these two ranks.
void first_messages() {
    constexpr int count = 300;
    constexpr int room = 20;
    std::vector<char> buffer(room * (sizeof(int) + MPI_BSEND_OVERHEAD));
    if (rank_ == 0) {
        MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
        for (int i = 0; i < count; ++i)
            CHECK(MPI_Bsend(&i, 1, MPI_INT, size_ - 1, 3, MPI_COMM_WORLD) == MPI_SUCCESS);
    }
    for (int i = 0; i < count && rank_ == size_ - 1; ++i) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == i);
    }
    if (rank_ != 0) return;
    void* detached = nullptr;
    int size = 0;
    MPI_Buffer_detach(static_cast<void*>(&detached), &size);
    CHECK(detached == buffer.data());
}

void errors() {
    int value = 1;
    FAILS(MPI_Bsend(&value, 1, MPI_INT, next(), 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    std::vector<char> buffer(MPI_BSEND_OVERHEAD + 8);
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    FAILS(MPI_Buffer_attach(buffer.data(), 8), MPI_ERR_BUFFER);
    std::vector<int> big(100000);
    FAILS(MPI_Bsend(big.data(), 100000, MPI_INT, next(), 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    void* memory = nullptr;
    int size = 0;
    MPI_Buffer_detach(&memory, &size);
    if (!portable_) FAILS(MPI_Buffer_detach(&memory, &size), MPI_ERR_BUFFER);
}

#if HAVE_MPI_41
void automatic() {
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    int tag = 0;
    for (const int n : lengths) {
        auto data = numbers(n, n);
        MPI_Bsend(data.data(), n, MPI_INT, next(), tag++, MPI_COMM_WORLD);
    }
    MPI_Request request;
    MPI_Buffer_iflush(&request);
    tag = 0;
    for (const int n : lengths) expect(n, n, tag++, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Buffer_flush();
    void* memory = nullptr;
    int size = -1;
    MPI_Buffer_detach(&memory, &size);
    CHECK(memory == MPI_BUFFER_AUTOMATIC);
}

// A buffer of the communicator takes precedence; without one the buffer of the process is used.
void of_communicator() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<char> buffer(100000 + MPI_BSEND_OVERHEAD);
    MPI_Comm_attach_buffer(comm, buffer.data(), static_cast<int>(buffer.size()));
    auto data = numbers(25000, 9);
    CHECK(MPI_Bsend(data.data(), 25000, MPI_INT, next(), 4, comm) == MPI_SUCCESS);
    FAILS(MPI_Bsend(data.data(), 1, MPI_INT, next(), 4, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Request request;
    MPI_Comm_iflush_buffer(comm, &request);
    expect(25000, 9, 4, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_flush_buffer(comm);
    void* memory = nullptr;
    int size = 0;
    MPI_Comm_detach_buffer(comm, &memory, &size);
    CHECK(memory == buffer.data() && size == static_cast<int>(buffer.size()));
    MPI_Comm_free(&comm);
}

void of_session() {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    std::vector<char> buffer(1000);
    CHECK(MPI_Session_attach_buffer(session, buffer.data(), 1000) == MPI_SUCCESS);
    MPI_Request request;
    MPI_Session_iflush_buffer(session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(session);
    void* memory = nullptr;
    MPI_Count size = 0;
    MPI_Session_detach_buffer_c(session, &memory, &size);
    CHECK(memory == buffer.data() && size == 1000);
    MPI_Session_finalize(&session);
}
#endif

// Buffered messages are delivered by MPI_Finalize, also one without a posted receive.
void pending_at_finalize(std::vector<char>& buffer) {
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    auto data = numbers(50000, 1);
    MPI_Request receive;
    static std::vector<int> in(50000);
    if (size_ == 1) return;
    MPI_Bsend(data.data(), 50000, MPI_INT, next(), 9, MPI_COMM_WORLD);
    MPI_Irecv(in.data(), 50000, MPI_INT, previous(), 9, MPI_COMM_WORLD, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(in == data);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    first_messages();
    errors();
    exact_size();
    reuse();
    requests();
#if HAVE_MPI_41
    automatic();
    of_communicator();
    of_session();
#endif
    static std::vector<char> buffer(200000 + MPI_BSEND_OVERHEAD);
    pending_at_finalize(buffer);
    session.end("buffered");
}
