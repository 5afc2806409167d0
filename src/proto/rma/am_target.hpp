// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Target of active messages. A queue per origin serves its requests in order. A blocked queue, because
// another origin has the lock or the origin is a fence ahead, is polled in every progress call.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/progress/progress_task.hpp"
#include "proto/rma/am_receiver.hpp"
#include "proto/rma/batch_reply.hpp"
#include "proto/rma/lock_service.hpp"
#include "proto/rma/queue_table.hpp"
#include "proto/rma/request_executor.hpp"

#include <deque>
#include <vector>

namespace zipmpi::proto::rma {

class RdmaConnections;
class RdmaNotices;

class AmTarget final : private AmHandler {
  public:
    AmTarget(TargetTable& targets, AmMessenger& messenger, const AttachedRanges& attached,
             const OpDecoder& decoder);
    ~AmTarget();
    AmTarget(const AmTarget&) = delete;
    AmTarget& operator=(const AmTarget&) = delete;

    void use_rdma(RdmaConnections& connections) { connections_ = &connections; }
    void use_notices(RdmaNotices& notices) { notices_ = &notices; }
    void serve_hybrid_locks(RdmaLocks& locks) { locks_.serve_hybrid(locks); }

    // Batches served in this epoch.
    [[nodiscard]] uint32_t served() const { return served_; }
    void next_epoch(uint32_t served_before);
    // Fences of neighbors that this origin has entered and this rank has not left yet.
    [[nodiscard]] bool is_notified_by(int origin) const {
        const OriginQueue* const s = origin_queues_.find(origin);
        return s != nullptr && s->notifications > 0;
    }
    void consume_notification(int origin) { --queue_from(origin_queues_, origin).notifications; }

  private:
    struct OriginQueue {
        uint32_t received = 0;      // batches
        uint32_t notifications = 0; // of fences of neighbors
        RequestedLock lock{};
        std::deque<Bytes> deferred{}; // blocked batches; the first is served up to `offset`
        size_t offset = 0;
        BatchReply reply;
    };
    struct BlockedHook : ProgressHook {
        AmTarget* owner = nullptr;
    };
    enum class ServeResult : uint8_t { done, blocked, invalid };
    using OriginQueues = QueueTable<OriginQueue>;

    [[nodiscard]] OriginQueue& queue_from(OriginQueues& queues, int rank);
    void on_message(int from, const std::byte* message, size_t bytes) override;
    void on_batch(int from, const wire::RmaBatch& head, const std::byte* message, size_t bytes);
    void on_out_of_band(int from, const std::byte* message, size_t bytes);
    void on_connect(int from, std::string_view text);
    [[nodiscard]] bool is_early(const wire::RmaBatch& head) const;
    void block(OriginQueue& s);
    bool resume(OriginQueue& s);
    int resume_blocked();
    ServeResult serve_batch(OriginQueue& s, const std::byte* batch, size_t bytes);
    ServeResult serve_request(OriginQueue& s, const wire::RmaRequest& head, const std::byte* rest);
    ServeResult serve_lock(OriginQueue& s, const wire::RmaRequest& head);
    void on_lock_granted(OriginQueue& s);
    void refuse_lock(OriginQueue& s);
    [[nodiscard]] bool has_failed_member() const;

    TargetTable& targets_;
    AmMessenger& messenger_;
    RdmaConnections* connections_ = nullptr; // null: RDMA is not used
    RdmaNotices* notices_ = nullptr;         // null: fences do not use them
    LockService locks_;
    RequestExecutor executor_;
    OriginQueues origin_queues_;
    OriginQueues out_of_band_queues_;          // of unnumbered requests
    std::vector<OriginQueue*> blocked_queues_; // queues that cannot proceed
    BlockedHook hook_;
    uint32_t served_ = 0;
    bool must_poll_ = false; // a queue waits for an event without a wakeup
    AmReceiver batches_;     // last: receives from its construction on
};

} // namespace zipmpi::proto::rma
