// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Messages through all protocols, with their contents checked, between two ranks without CMA access to each
// other. usage: cma_denied READERS: the ranks whose reads must fail ("0", "01"), or with a w those whose
// writes must fail ("w01"). Each rank verifies this, so that the test fails if nothing is denied.
#include "check.hpp"

#include <cerrno>
#include <cstdint>
#include <string>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr size_t sizes[] = {0,     1,     40,    41,     280,    281,     4096,    20000,   32704,
                            32705, 65536, 65537, 262144, 700001, 1 << 20, 3000000, 5 << 20, (8 << 20) + 3};

bool cma_is_denied(bool to_write) {
    static char own = 42;
    uint64_t mine[2] = {static_cast<uint64_t>(getpid()), reinterpret_cast<uint64_t>(&own)}, other[2] = {};
    MPI_Sendrecv(mine, 2, MPI_UINT64_T, 1 - rank_, 0, other, 2, MPI_UINT64_T, 1 - rank_, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    char byte = 0;
    const iovec here{&byte, 1}, there{reinterpret_cast<void*>(other[1]), 1};
    const auto call = to_write ? process_vm_writev : process_vm_readv;
    const bool refused = call(static_cast<pid_t>(other[0]), &here, 1, &there, 1, 0) != 1;
    MPI_Barrier(MPI_COMM_WORLD); // the other rank has tried, too
    return refused;
}

unsigned char content(size_t i, size_t bytes, int from) {
    return static_cast<unsigned char>(i * 31 + i / 4093 + bytes + static_cast<size_t>(from));
}

void fill(unsigned char* buffer, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) buffer[i] = content(i, bytes, rank_);
}

void check(unsigned char* buffer, size_t bytes) {
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; ++i) wrong += buffer[i] != content(i, bytes, 1 - rank_) ? 1 : 0;
    CHECK(wrong == 0);
    std::memset(buffer, 0, bytes);
}

// In sequence, both directions at once, and several messages in flight received in another order.
void exchange(unsigned char* out, unsigned char* in, size_t bytes) {
    const int other = 1 - rank_, n = static_cast<int>(bytes);
    MPI_Status status;
    fill(out, bytes);
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == rank_) {
            MPI_Ssend(out, n, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(in, n, MPI_BYTE, other, 1, MPI_COMM_WORLD, &status);
            check(in, bytes);
        }
    }
    MPI_Sendrecv(out, n, MPI_BYTE, other, 2, in, n, MPI_BYTE, other, 2, MPI_COMM_WORLD, &status);
    check(in, bytes);
    if (bytes > 1 << 20) return;
    MPI_Request sends[4];
    for (int i = 0; i < 4; ++i) MPI_Isend(out, n, MPI_BYTE, other, 10 + i, MPI_COMM_WORLD, &sends[i]);
    for (int i = 3; i >= 0; --i) {
        MPI_Recv(in, n, MPI_BYTE, other, 10 + i, MPI_COMM_WORLD, &status);
        check(in, bytes);
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
}

} // namespace

int main(int argc, char** argv) {
    Session session(&argc, &argv);
    CHECK(argc > 1);
    const std::string readers = argv[1];
    CHECK(size_ == 2);
    const bool refused = cma_is_denied(readers[0] == 'w');
    if (readers.find(static_cast<char>('0' + rank_)) != std::string::npos) CHECK(refused);
    constexpr size_t most = sizes[sizeof sizes / sizeof *sizes - 1];
    std::vector<unsigned char> out(most), in(most);
    unsigned char* arena_buffer = nullptr;
    CHECK(MPI_Alloc_mem(static_cast<MPI_Aint>(most), MPI_INFO_NULL, &arena_buffer) == MPI_SUCCESS);
    for (const size_t bytes : sizes) {
        exchange(out.data(), in.data(), bytes);
        exchange(arena_buffer, in.data(), bytes);
        exchange(out.data(), arena_buffer, bytes);
    }
    MPI_Free_mem(arena_buffer);
    session.end("cma_denied");
}
