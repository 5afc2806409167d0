// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/rdma_notices.hpp"

#include "proto/rma/am_messenger.hpp"
#include "proto/rma/fetch_op.hpp"
#include "proto/rma/target_table.hpp"

#include <algorithm>

namespace zipmpi::proto::rma {

// A notification in flight. It may outlive its owner: a fence ends early when a member has failed.
class RdmaNotices::Notice final : public FetchOp {
  public:
    Notice(RdmaNotices& owner, int rank)
        : owner_(&owner)
        , rank_(rank) {}
    void forget_owner() { owner_ = nullptr; }
    [[nodiscard]] uint64_t* before() { return &before_; }

  private:
    void on_done() override {
        if (owner_ != nullptr) {
            if (error != Err::success) owner_->messenger_.send_out_of_band(rank_, wire::RmaKind::notice_lost);
            std::erase(owner_->pending_, this);
        }
        delete this;
    }

    RdmaNotices* owner_;
    int rank_;
    uint64_t before_ = 0; // sink for the result of the atomic
};

RdmaNotices::~RdmaNotices() {
    for (Notice* const notice : pending_) notice->forget_owner();
}

void RdmaNotices::notify(int rank) {
    auto* const notice = new Notice(*this, rank);
    pending_.push_back(notice);
    const int endpoint = connections_.endpoint(rank);
    context().device().fetch_add(endpoint, 1, notice->before(), connections_.keys().notices(rank));
    context().mark_busy(endpoint);
    RdmaContext::CompletionAction& action = context().on_flushed(endpoint);
    action.immediate = true;
    action.fetch = notice;
}

std::vector<int> RdmaNotices::begin() {
    using Access = RdmaConnections::Access;
    std::vector<int> notified;
    flushed_.clear();
    for (const auto& [rank, access] : connections_.take_accesses()) {
        if (access == Access::get || !targets_.is_remote(rank)) {
            connections_.begin_flush(rank);
            flushed_.push_back(rank);
        } else if (connections_.is_busy(rank)) {
            notify(rank);
            notified.push_back(rank);
        }
    }
    return notified;
}

bool RdmaNotices::are_results_complete() {
    return std::ranges::all_of(flushed_, [this](int rank) { return connections_.is_flushed(rank); });
}

bool RdmaNotices::have_arrived(uint32_t expected) const {
    // acquire: the puts before a notification are visible; pairs with the device's atomic
    const uint64_t arrived = targets_.own_member().notices.load(std::memory_order_acquire) + lost_;
    return arrived - consumed_ >= expected;
}

} // namespace zipmpi::proto::rma
