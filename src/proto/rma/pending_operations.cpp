// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/pending_operations.hpp"

#include "proto/rma/am_origin.hpp"
#include "proto/rma/rdma_connections.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

void PendingOperations::flush_rdma(int rank) {
    if (rdma_ != nullptr) rdma_->flush(rank);
}

void PendingOperations::flush_rdma(const std::vector<int>& ranks) {
    if (rdma_ != nullptr) rdma_->flush_ranks(ranks);
}

void PendingOperations::flush_rdma_all() {
    if (rdma_ != nullptr) rdma_->flush_all();
}

void PendingOperations::begin_rdma_flush(int rank) {
    if (rdma_ != nullptr) rdma_->begin_flush(rank);
}

bool PendingOperations::is_rdma_flushed(int rank) { return rdma_ == nullptr || rdma_->is_flushed(rank); }

PendingOperations::FlushMark PendingOperations::begin_flush(int rank) {
    begin_rdma_flush(rank);
    return {rank, am_ != nullptr ? am_->begin_flush(rank) : 0};
}

bool PendingOperations::is_flushed(const std::vector<FlushMark>& marks) {
    return std::ranges::all_of(marks, [this](const FlushMark& m) {
        return is_rdma_flushed(m.rank) && (am_ == nullptr || am_->is_flushed(m.rank, m.batch));
    });
}

void PendingOperations::flush_requests(int rank) {
    flush_rdma(rank);
    am_->flush(rank);
}

void PendingOperations::flush_all_requests() {
    flush_rdma_all();
    am_->flush_all();
}

void PendingOperations::await_results(int rank) {
    flush_rdma(rank);
    am_->await_fetches(rank);
}

void PendingOperations::await_all_results() {
    flush_rdma_all();
    am_->await_all_fetches();
}

} // namespace zipmpi::proto::rma
