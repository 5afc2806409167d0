// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives whose result would overwrite the send buffer. The error is detected before anything is sent, so
// that the call with MPI_IN_PLACE or two buffers works afterwards.
#include "check.hpp"

#include <numeric>

namespace {

std::vector<int> ones() { return std::vector<int>(static_cast<size_t>(size_), 1); }

std::vector<int> make_displs() {
    std::vector<int> v(static_cast<size_t>(size_));
    std::iota(v.begin(), v.end(), 0);
    return v;
}

void reductions(MPI_Comm comm) {
    std::vector<int> v = ones();
    std::vector<int> w = v;
    int* const both = v.data();
    const std::vector<int> counts = ones();
    FAILS(MPI_Allreduce(both, both, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Scan(both, both, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Exscan(both, both, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_scatter(both, both, counts.data(), MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_scatter_block(both, both, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(both, both, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    if (rank_ == 0) FAILS(MPI_Reduce(both, both, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    // the receive buffer is significant at the root only
    const void* given = rank_ == 0 ? MPI_IN_PLACE : both;
    CHECK(MPI_Reduce(given, both, 1, MPI_INT, MPI_SUM, 0, comm) == MPI_SUCCESS);
    CHECK(v[0] == (rank_ == 0 ? size_ : 1));
    CHECK(MPI_Allreduce(both, both, 0, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    FAILS(MPI_Iallreduce(both, both, 1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_BUFFER);
    CHECK(MPI_Allreduce(w.data(), both, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && v[0] == size_);
}

void one_to_all(MPI_Comm comm) {
    std::vector<int> v = ones();
    int* const all = v.data();
    const std::vector<int> counts = ones();
    const std::vector<int> displs = make_displs();
    const int root = size_ - 1;
    if (rank_ == root) {
        int* const own = all + root;
        FAILS(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, root, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Gatherv(own, 1, MPI_INT, all, counts.data(), displs.data(), MPI_INT, root, comm),
              MPI_ERR_BUFFER);
        FAILS(MPI_Scatter(all, 1, MPI_INT, own, 1, MPI_INT, root, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Scatterv(all, counts.data(), displs.data(), MPI_INT, own, 1, MPI_INT, root, comm),
              MPI_ERR_BUFFER);
    }
    const void* given = rank_ == root ? MPI_IN_PLACE : all;
    CHECK(MPI_Gather(given, 1, MPI_INT, all, 1, MPI_INT, root, comm) == MPI_SUCCESS);
}

void all_to_all(MPI_Comm comm) {
    std::vector<int> v = ones();
    int* const all = v.data();
    const std::vector<int> counts = ones();
    std::vector<int> displs = make_displs();
    const std::vector<MPI_Datatype> types(static_cast<size_t>(size_), MPI_INT);
    FAILS(MPI_Allgather(all + rank_, 1, MPI_INT, all, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Allgatherv(all + rank_, 1, MPI_INT, all, counts.data(), displs.data(), MPI_INT, comm),
          MPI_ERR_BUFFER);
    FAILS(MPI_Alltoall(all, 1, MPI_INT, all, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Alltoallv(all, counts.data(), displs.data(), MPI_INT, all, counts.data(), displs.data(),
                        MPI_INT, comm),
          MPI_ERR_BUFFER);
    for (int& d : displs) d *= static_cast<int>(sizeof(int));
    FAILS(MPI_Alltoallw(all, counts.data(), displs.data(), types.data(), all, counts.data(), displs.data(),
                        types.data(), comm),
          MPI_ERR_BUFFER);
}

// Two disjoint halves of one buffer by displacements: valid.
void halves(MPI_Comm comm) {
    const auto n = static_cast<size_t>(size_);
    std::vector<int> v(2 * n, rank_);
    const std::vector<int> counts = ones();
    const std::vector<int> low = make_displs();
    std::vector<int> high = low;
    for (int& d : high) d += size_;
    CHECK(MPI_Alltoallv(v.data(), counts.data(), low.data(), MPI_INT, v.data(), counts.data(), high.data(),
                        MPI_INT, comm) == MPI_SUCCESS);
    for (size_t i = 0; i < n; ++i) CHECK(v[i] == rank_ && v[n + i] == static_cast<int>(i));
}

} // namespace

int main(int argc, char** argv) {
    const Session session(&argc, &argv);
    reductions(MPI_COMM_WORLD);
    one_to_all(MPI_COMM_WORLD);
    all_to_all(MPI_COMM_WORLD);
    halves(MPI_COMM_WORLD);
    session.end("aliased_buffers");
}
