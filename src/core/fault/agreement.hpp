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

#include "core/comm/comm.hpp"
#include "proto/p2p/operation.hpp"
#include "segment/node_segment.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace zipmpi::core {

// The contribution of one member, or of several combined.
struct Vote {
    uint32_t flags = ~0U;
    uint32_t value = 0;
    void add(const Vote& other) {
        flags &= other.flags;
        value = std::max(value, other.value);
    }
};

class Agreement {
  public:
    // One user call on this communicator, which may take several agreements in sequence.
    explicit Agreement(Comm& comm);
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;

    // `ended` is called once, possibly before this returns.
    void start(const Vote& vote, void (*ended)(void* subject), void* subject);

    // --- the result
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] const Vote& result() const { return result_; }
    [[nodiscard]] const std::vector<bool>& failed() const { return failed_; } // by position

    // World ranks of all members, in an order identical on all processes: by rank, or one group after the
    // other.
    [[nodiscard]] const std::vector<int>& members() const { return members_; }
    [[nodiscard]] int own_position() const { return own_position_; } // position of this process
    [[nodiscard]] int first_group() const { return first_group_; }   // size of the first group

    // Delivers launcher decisions queued for this rank to the pending agreements. Returns their number.
    static int take_decisions();
    // A pending message, for reports.
    [[nodiscard]] const proto::Operation* pending_operation() const;

  private:
    struct Step : proto::Operation {
        Agreement* agreement = nullptr;
    };
    struct Job {
        std::vector<int> positions;
        Vote vote;
        bool has_vote = false;
        int received_from = -1; // index of its message in this round
    };
    using Next = void (Agreement::*)();

    void find_jobs();
    void agree_in_job(const Vote& vote, Next next);
    void agree_through_launcher(const Vote& vote);
    void reduce_votes();
    void receive_result();
    void job_agreed();
    void own_job_agreed();
    void exchange_votes();
    void votes_exchanged();
    void round_done();
    void conclude();
    void end(Err error);
    void end_with_failure(Err error);

    [[nodiscard]] std::string pack() const;
    void unpack(const std::string& bytes);

    // Messages to other members: begin, add, then launch; `next` runs when all are complete.
    void begin_steps(Next next);
    void send_to(int position, const void* data, size_t bytes) { add_step(position, data, bytes, true); }
    void receive_from(int position, void* data, size_t bytes) { add_step(position, data, bytes, false); }
    void add_step(int position, const void* data, size_t bytes, bool sends);
    void launch_steps();
    void step_done();
    [[nodiscard]] std::vector<int>& own_positions() { return jobs_[own_job_].positions; }

    Comm& comm_;
    uint32_t call_;
    uint32_t step_ = 0; // of this call
    std::vector<int> members_;
    int own_position_ = 0;
    int first_group_ = 0;
    std::vector<Job> jobs_;      // jobs with members, in an order identical on all processes
    std::vector<size_t> job_of_; // by position
    size_t own_job_ = 0;
    size_t round_ = 0;

    void (*ended_)(void*) = nullptr;
    void* subject_ = nullptr;
    Err error_ = Err::success;
    Vote result_;
    std::vector<bool> failed_;

    segment::AgreementResult job_decision_; // decision of the members of this job
    proto::Operation
        launcher_wait_; // pseudo-operation shown in reports while the launcher collects the votes
    Next next_in_job_ = nullptr;
    std::vector<Vote> votes_; // of the other members of this job, if the launcher does not support agreements
    std::string out_;         // messages of a round
    std::vector<std::string> in_;
    std::deque<Step> steps_;
    Next next_ = nullptr;
    int pending_ = 0; // steps in flight, plus one while steps are being added
};

} // namespace zipmpi::core
