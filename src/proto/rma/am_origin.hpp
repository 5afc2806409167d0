// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Origin of active messages. A queue per target collects requests until the batch is full or a caller waits
// for it. Targets reply to a batch that requests it or that fetches; a reply acknowledges all batches up to a
// number, so a flush takes one round trip regardless of the number of pending batches.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/am_messenger.hpp"
#include "proto/rma/am_receiver.hpp"
#include "proto/rma/deferred_error.hpp"
#include "proto/rma/fetch_op.hpp"
#include "proto/rma/queue_table.hpp"
#include "proto/rma/target_table.hpp"

#include <deque>
#include <vector>

namespace zipmpi::proto::rma {

class RdmaConnections;
class WindowWaiter;

// Requests to one target.
struct TargetQueue {
    // Lock that the operations to a target need; requested along with the first of them.
    enum class LockState : uint8_t { none, wanted_shared, wanted_exclusive, requested };
    struct AckMark {
        uint32_t number; // of a batch that requests a reply
        uint64_t bytes;  // queued up to its end
    };

    int rank = 0;
    Bytes batch; // empty, or starts with its header
    uint64_t max_batch_bytes = 0;
    uint64_t fetched_by_batch = 0;
    uint32_t sent = 0;          // batches
    uint32_t done = 0;          // batches acknowledged by the target
    uint32_t ack_requested = 0; // last batch that requests a reply
    uint32_t counted = 0;       // batches sent before the last fence
    uint64_t bytes = 0;         // queued so far
    uint64_t bytes_done = 0;    // acknowledged, lower bound
    std::deque<AckMark> ack_marks;
    uint32_t fetches = 0; // in flight
    LockState lock_state = LockState::none;

    [[nodiscard]] bool is_flushed() const { return batch.empty() && done == sent; }
    [[nodiscard]] uint64_t bytes_in_flight() const { return bytes - bytes_done; }
};

inline wire::RmaKind lock_request(LockMode mode) {
    return mode == LockMode::exclusive ? wire::RmaKind::lock_exclusive : wire::RmaKind::lock_shared;
}

struct AmRequest {
    wire::RmaKind kind;
    uint32_t op_code = 0;
    const iovec* iov = nullptr;
    size_t count = 0;
    TypedBuffer data{}; // payload: data_bytes starting at packed byte data_from
    uint64_t data_from = 0;
    uint64_t data_bytes = 0;
    FetchOp* fetch = nullptr; // null: fetches nothing
    uint64_t fetched_to = 0;  // offset in the packed result
    uint64_t fetched_bytes = 0;
};

class AmOrigin final : private AmHandler {
  public:
    // Whether the target shall reply to a batch that fetches nothing.
    enum class Ack : uint8_t { none, requested };

    AmOrigin(const TargetTable& targets, AmMessenger& messenger, WindowWaiter& waiter,
             DeferredError& failure);
    void use_rdma(RdmaConnections& connections) { connections_ = &connections; }

    [[nodiscard]] TargetQueue& queue_to(int rank);
    void add(TargetQueue& queue, const AmRequest& request);
    void send_batch(TargetQueue& queue, Ack ack);
    void send_all_batches();
    void request_ack(TargetQueue& queue); // requests a reply to everything queued so far

    // Waits until all requests to this target (or to all) are complete at the target.
    void flush(int rank);
    void flush_all();
    // Without waiting: requests a reply to everything queued; returns the number of the last batch.
    uint32_t begin_flush(int rank);
    // The batches up to this number are complete at the target, or a member has failed.
    [[nodiscard]] bool is_flushed(int rank, uint32_t batch) const;
    // Waits until all results from this target (or from all) have arrived.
    void await_fetches(int rank);
    void await_all_fetches();
    [[nodiscard]] uint32_t fetches() const { return fetches_; }
    // Ends pending fetches if a member has failed, called after each notification. No others follow (AmPath),
    // so that a late reply finds its id unused.
    void fail_pending();
    // Batches sent to each rank since the last call, in every stride-th element.
    void count_batches(uint32_t* counts, size_t stride);

  private:
    struct PendingReply {
        FetchOp* fetch = nullptr;
        int rank = 0;
        uint64_t to = 0;
        uint64_t bytes = 0;
    };

    [[nodiscard]] uint32_t add_pending_reply(const PendingReply& w);
    void append_request(TargetQueue& queue, const AmRequest& request);
    template <class Condition>
    void await_answer(const Condition& condition, int rank);
    void limit_bytes(const TargetQueue& queue);
    void on_message(int from, const std::byte* message, size_t bytes) override;
    bool on_replies(TargetQueue& queue, const std::byte* replies, size_t bytes);
    bool on_reply(TargetQueue& queue, const wire::RmaReply& reply, const std::byte* data);
    void complete(uint32_t id, TargetQueue& queue, Err error);
    [[nodiscard]] Err refusal_error(wire::RmaRefusal why, int rank) const;

    const TargetTable& targets_;
    AmMessenger& messenger_;
    WindowWaiter& waiter_;
    DeferredError& failure_;
    RdmaConnections* connections_ = nullptr; // null: RDMA is not used
    QueueTable<TargetQueue> target_queues_;
    std::vector<PendingReply> pending_replies_; // by id
    std::vector<uint32_t> free_ids_;
    uint32_t fetches_ = 0;
    AmReceiver replies_; // last: receives from its construction on
};

} // namespace zipmpi::proto::rma
