// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided operations by active messages (wire/rma_layout.hpp): batches of requests on the window's own
// context with tag 0, batch replies with tag 1. Both are received from any source; invalid ones are dropped.
//
// Origin: a TargetQueue per target collects requests until the batch is full or a caller waits for it.
// Targets reply to a batch that requests it or that fetches; a reply acknowledges all batches up to a number,
// so a flush takes one round trip regardless of the number of pending batches.
//
// Target: an OriginQueue per origin serves its requests in order. A blocked queue, because another origin has
// the lock or the origin is a fence ahead, is polled in every progress call.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/rma/window.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace zipmpi::proto::rma {

using Bytes = std::vector<std::byte>;

struct Window::AmPath {
    explicit AmPath(Window& window);
    ~AmPath();
    AmPath(const AmPath&) = delete;
    AmPath& operator=(const AmPath&) = delete;

    // --- origin, am_origin.cpp
    // Lock that the operations to a target need; requested along with the first of them.
    enum class LockState : uint8_t { none, wanted_shared, wanted_exclusive, requested };
    struct TargetQueue {
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
        struct AckMark {
            uint32_t number; // of a batch that requests a reply
            uint64_t bytes;  // queued up to its end
        };
        std::deque<AckMark> ack_marks;
        uint32_t fetches = 0; // in flight
        LockState lock_state = LockState::none;
        [[nodiscard]] bool is_flushed() const { return batch.empty() && done == sent; }
        [[nodiscard]] uint64_t bytes_in_flight() const { return bytes - bytes_done; }
    };
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
    [[nodiscard]] TargetQueue& queue_to(int rank);
    [[nodiscard]] TargetQueue* find_queue(int rank) {
        return target_queues_[static_cast<size_t>(rank)].get();
    }
    void add(TargetQueue& queue, const AmRequest& request);
    void send_batch(TargetQueue& queue, bool with_ack);
    void send_all_batches(bool with_acks);
    void request_ack(TargetQueue& queue); // requests a reply to everything queued so far
    void post_to(int origin);
    void send_out_of_band(int target, wire::RmaKind kind);
    void request_connection(int target, const std::string& text); // between RDMA devices
    [[nodiscard]] bool all_flushed() const;
    [[nodiscard]] uint32_t fetches() const { return fetches_; }
    // Batches sent to each rank since the last call.
    void count_batches(uint32_t* counts);

    // --- target, am_target.cpp
    // Batches served in this epoch.
    [[nodiscard]] uint32_t served() const { return served_; }
    void next_epoch(uint32_t served_before);

  private:
    struct AmReceiver : DeferredTask {
        struct AmReceive : Operation {
            AmReceiver* owner = nullptr;
        };
        AmPath* path = nullptr;
        void (AmPath::*handle)(int from, const std::byte* message, size_t bytes) = nullptr;
        AmReceive operation;
        Bytes buffer;
        void start(AmPath& m, int tag);
        void post();
    };
    struct PendingReply {
        FetchOp* fetch = nullptr;
        int rank = 0;
        uint64_t to = 0;
        uint64_t bytes = 0;
    };
    struct OriginQueue {
        enum class Lock : uint8_t { none, shared, exclusive };
        int rank = 0;
        uint32_t received = 0; // batches
        uint32_t served = 0;
        uint32_t refused = 0; // rejected requests, not reported yet
        Lock lock = Lock::none;
        Lock awaited_lock = Lock::none; // with this ticket
        uint16_t ticket = 0;
        // Hybrid locks: actions when the lock is granted.
        bool yields_lock = false; // hand it over to the network
        bool wants_reply = false; // send a reply with id lock_id
        uint32_t lock_id = 0;
        std::deque<Bytes> deferred; // blocked batches; the first is served up to `offset`
        size_t offset = 0;
        Bytes batch_reply; // under construction
    };
    struct AmHook : ProgressHook {
        AmPath* path = nullptr;
    };

    void send(int to, int tag, Bytes message);
    [[nodiscard]] uint32_t add_pending_reply(const PendingReply& w);
    void append_request(TargetQueue& queue, const AmRequest& request);
    void on_batch_reply(int from, const std::byte* message, size_t bytes);
    bool on_reply(TargetQueue& queue, const wire::RmaReply& reply, const std::byte* data);
    void limit_bytes(TargetQueue& queue);

    // am_target.cpp
    enum class ServeResult : uint8_t { done, blocked, invalid };
    using OriginQueues = std::vector<std::unique_ptr<OriginQueue>>;
    [[nodiscard]] static OriginQueue& queue_from(OriginQueues& queues, int rank);
    void on_out_of_band(int from, const std::byte* message, size_t bytes);
    void on_batch(int from, const std::byte* message, size_t bytes);
    bool resume(OriginQueue& s);
    ServeResult serve_batch(OriginQueue& s, const std::byte* batch, size_t bytes);
    ServeResult serve_request(OriginQueue& s, const wire::RmaRequest& head, const std::byte* rest);
    void on_connect(int from, const std::byte* text, size_t bytes);
    void on_connected(int from, const std::byte* text, size_t bytes);
    ServeResult lock(OriginQueue& s, const wire::RmaRequest& head);
    ServeResult draw_ticket(OriginQueue& s, bool exclusive);
    void on_lock_granted(OriginQueue& s);
    void unlock(OriginQueue& s);
    bool access(OriginQueue& s, const wire::RmaRequest& head, const std::byte* data);
    bool swap(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched);
    bool accumulate(const wire::RmaRequest& head, const std::byte* data, std::byte* fetched);
    [[nodiscard]] bool add_segment(const wire::RmaSegment& segment);
    std::byte* add_reply(OriginQueue& s, uint32_t id, uint64_t bytes, bool refused);
    void send_batch_reply(OriginQueue& s);
    int resume_blocked();

    Window& window_;
    AmReceiver batches_;
    AmReceiver batch_replies_;
    std::vector<std::unique_ptr<TargetQueue>> target_queues_; // by rank
    std::vector<PendingReply> pending_replies_;               // by id
    std::vector<uint32_t> free_ids_;
    uint32_t fetches_ = 0;
    OriginQueues origin_queues_;               // by rank
    OriginQueues out_of_band_queues_;          // of unnumbered requests
    std::vector<OriginQueue*> blocked_queues_; // queues that cannot proceed
    AmHook hook_;
    uint32_t epoch_ = 0;
    uint32_t served_ = 0;
    bool must_poll_ = false; // a queue waits for an event without a wakeup
    std::vector<iovec> iov_;
    uint64_t iov_bytes_ = 0;
    ScratchBuffers scratch_;
};

} // namespace zipmpi::proto::rma
