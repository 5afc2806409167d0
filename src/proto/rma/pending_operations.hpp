// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Completion of the operations of a window that are pending after their calls: active messages and RDMA.
//
// Threads: under the lock of the progress engine.
#pragma once

#include <cstdint>
#include <vector>

namespace zipmpi::proto::rma {

class AmOrigin;
class RdmaConnections;

class PendingOperations {
  public:
    void use_am(AmOrigin& am) { am_ = &am; }
    void use_rdma(RdmaConnections& rdma) { rdma_ = &rdma; }

    // Waits until all operations to this target (or to all) are complete at the target.
    void flush(int rank) {
        if (am_ != nullptr) [[unlikely]]
            flush_requests(rank);
    }
    void flush_all() {
        if (am_ != nullptr) [[unlikely]]
            flush_all_requests();
    }
    // Waits until all results from this target (or from all) have arrived, and its operations no longer use
    // memory of this process.
    void flush_local(int rank) {
        if (am_ != nullptr) [[unlikely]]
            await_results(rank);
    }
    void flush_local_all() {
        if (am_ != nullptr) [[unlikely]]
            await_all_results();
    }
    // Waits for the RDMA operations to this target, to these or to all; no active messages.
    void flush_rdma(int rank);
    void flush_rdma(const std::vector<int>& ranks);
    void flush_rdma_all();

    // A flush that does not wait: of one target, up to the operations called before begin_flush().
    struct FlushMark {
        int rank;
        uint32_t batch; // the last batch of active messages
    };
    [[nodiscard]] FlushMark begin_flush(int rank);
    [[nodiscard]] bool is_flushed(const std::vector<FlushMark>& marks);
    // RDMA operations only; without waiting.
    void begin_rdma_flush(int rank);
    [[nodiscard]] bool is_rdma_flushed(int rank);
    [[nodiscard]] bool uses_rdma() const { return rdma_ != nullptr; }

  private:
    [[gnu::cold]] void flush_requests(int rank);
    [[gnu::cold]] void flush_all_requests();
    [[gnu::cold]] void await_results(int rank);
    [[gnu::cold]] void await_all_results();

    AmOrigin* am_ = nullptr;          // null: all operations complete in their calls
    RdmaConnections* rdma_ = nullptr; // null: RDMA is not used
};

} // namespace zipmpi::proto::rma
