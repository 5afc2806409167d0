// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement of the members of this job: through its launcher, or, if that is not ZipMPI's own, through the
// member at the first position.
#pragma once

#include "core/fault/job_votes.hpp"
#include "core/fault/member_messages.hpp"
#include "segment/node_segment.hpp"

#include <functional>
#include <vector>

namespace zipmpi::core {

class JobAgreement {
  public:
    // One user call on this communicator, which may take several agreements in sequence.
    JobAgreement(Comm& comm, const AgreementMembers& members);
    ~JobAgreement();
    JobAgreement(const JobAgreement&) = delete;
    JobAgreement& operator=(const JobAgreement&) = delete;

    // `ended` is called once, possibly before this returns; it may destroy this object.
    void start(const Vote& vote, std::function<void()> ended);

    // --- the result
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] Vote result() const { return {decision_.flags, decision_.value}; }
    // Failures of the job that the decision counts; stored in the segment before it.
    [[nodiscard]] uint32_t failures() const { return decision_.failed; }

    // Number of the latest agreement, equal on all members.
    [[nodiscard]] uint32_t number() const { return decision_.number; }
    // A pending message, or the wait for the launcher, for reports.
    [[nodiscard]] const proto::Operation* pending_operation() const;

    // Delivers launcher decisions queued for this rank to the pending agreements. Returns their number.
    static int take_decisions();

  private:
    void agree_through_launcher(const Vote& vote);
    void collect_votes(const Vote& vote);
    void distribute_result();
    void send_vote(const Vote& vote);
    void decide(const Vote& result);
    void end(Err error);

    uint32_t context_;
    uint32_t call_;     // number of the user call
    uint32_t step_ = 0; // of this call
    const AgreementMembers& members_;
    MemberMessages messages_;
    std::vector<Vote> votes_; // of the members of this job, if the launcher does not support agreements
    segment::AgreementResult decision_;
    proto::Operation launcher_wait_; // shown in reports while the launcher collects the votes
    std::function<void()> ended_;
    Err error_ = Err::success;
};

} // namespace zipmpi::core
