// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An agreement of all live members of a communicator: flags are combined bitwise, the largest value wins, and
// all members obtain the same set of failed members. It completes whichever process fails in the meantime and
// needs no waiting process: launcher decisions and messages drive it.
//
// Members of one job agree through their launcher. A communicator over k jobs takes k - 1 rounds: in each,
// every process sends the votes of its job to all processes of the other jobs, and the members of a job agree
// through their launcher which votes all of them received. A job thus acts as one process that fails with its
// last member. Rationale: docs/decisions/0043.
#pragma once

#include "core/fault/agreement_members.hpp"
#include "core/fault/job_agreement.hpp"
#include "core/fault/job_votes.hpp"
#include "core/fault/member_messages.hpp"

#include <functional>
#include <string>
#include <vector>

namespace zipmpi::core {

class Agreement {
  public:
    // One user call on this communicator, which may take several agreements in sequence.
    explicit Agreement(Comm& comm);

    // `ended` is called once, possibly before this returns; it may destroy this object.
    void start(const Vote& vote, std::function<void()> ended);

    // --- the result
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] const Vote& result() const { return result_; }
    [[nodiscard]] const std::vector<bool>& failed() const { return votes_.failed(); } // by position

    [[nodiscard]] const AgreementMembers& members() const { return members_; }
    // A pending message, for reports.
    [[nodiscard]] const proto::Operation* pending_operation() const;

  private:
    void own_job_agreed();
    void exchange_votes();
    void votes_exchanged();
    void round_done();
    void conclude();
    void end(Err error);
    void end_with_failure(Err error);

    AgreementMembers members_;
    JobAgreement own_job_;
    MemberMessages messages_; // to members of other jobs
    JobVotes votes_;
    size_t round_ = 0;
    std::string out_; // messages of a round
    std::vector<std::string> in_;
    std::vector<int> source_of_; // by job: a member whose message of this round arrived, or -1
    std::function<void()> ended_;
    Err error_ = Err::success;
    Vote result_;
};

} // namespace zipmpi::core
