// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Counts beyond 2^31 through the _c functions, without the memory: a buffer of more than 2 GiB is one memory
// file of 16 MiB mapped many times in a row, so that a message overwrites itself and its last part remains.
#include "check.hpp"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr size_t window = 16U << 20;
constexpr MPI_Count count = (MPI_Count{1} << 31) + 12345;

struct Aliased {
    unsigned char* data = nullptr;
    size_t bytes = 0;
    explicit Aliased(size_t wanted)
        : bytes((wanted + window - 1) / window * window) {
        const int fd = memfd_create("aliased", 0);
        CHECK(fd >= 0 && ftruncate(fd, window) == 0);
        void* at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(at != MAP_FAILED);
        data = static_cast<unsigned char*>(at);
        for (size_t i = 0; i < bytes; i += window)
            CHECK(mmap(data + i, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == data + i);
        close(fd);
    }
    Aliased(const Aliased&) = delete;
    Aliased& operator=(const Aliased&) = delete;
    ~Aliased() { munmap(data, bytes); }
};

unsigned char pattern(size_t i) { return static_cast<unsigned char>(i * 31 + i / 4096); }

void check_received(const Aliased& in, const MPI_Status& status) {
    MPI_Count got = 0;
    MPI_Get_count_c(&status, MPI_BYTE, &got);
    CHECK(got == count);
    int narrow = 0;
    MPI_Get_count(&status, MPI_BYTE, &narrow);
    CHECK(narrow == MPI_UNDEFINED);
    MPI_Get_count(&status, MPI_INT, &narrow);
    CHECK(narrow == MPI_UNDEFINED); // not a whole number of elements
    for (size_t i = 0; i < window; i += 997) CHECK(in.data[i] == pattern(i));
}

void fill(const Aliased& buffer) {
    for (size_t i = 0; i < window; ++i) buffer.data[i] = pattern(i);
}

void between_two() {
    const Aliased buffer(static_cast<size_t>(count));
    MPI_Status status;
    if (rank_ == 0) {
        fill(buffer);
        MPI_Send_c(buffer.data, count, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Request request;
        MPI_Send_init_c(buffer.data, count, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (rank_ == 1) {
        MPI_Recv_c(buffer.data, count + 5, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
        check_received(buffer, status);
        std::memset(buffer.data, 0, window);
        MPI_Message message;
        MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv_c(buffer.data, count, MPI_BYTE, &message, &status);
        check_received(buffer, status);
    }
}

void with_self() {
    const Aliased out(static_cast<size_t>(count));
    const Aliased in(static_cast<size_t>(count));
    fill(out);
    MPI_Request request;
    MPI_Status status;
    MPI_Isendrecv_c(out.data, count, MPI_BYTE, 0, 1, in.data, count, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    check_received(in, status);
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    if (size_ > 1) between_two();
    if (rank_ == 0) with_self();
    MPI_Barrier(MPI_COMM_WORLD);
    session.end("large_counts");
}
