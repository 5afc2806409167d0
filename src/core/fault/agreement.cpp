// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement between processes of several jobs: rounds of messages, after each of which all members of a job
// have equal data.
#include "core/fault/agreement.hpp"

#include "core/fault/fault.hpp"
#include "core/runtime_state.hpp"
#include "transport/interjob/interjob_network.hpp"

#include <algorithm>
#include <utility>

namespace zipmpi::core {

Agreement::Agreement(Comm& comm)
    : members_(comm)
    , own_job_(comm, members_)
    , messages_(comm.team.context, members_)
    , votes_(members_.jobs(), members_.ranks().size()) {}

void Agreement::start(const Vote& vote, std::function<void()> ended) {
    ended_ = std::move(ended);
    error_ = Err::success;
    result_ = {};
    votes_.clear();
    round_ = 0;
    constexpr size_t max_jobs = 32; // one bit each in the vote of a job
    if (members_.jobs().size() > max_jobs)
        return end(fail(Err::unsupported_operation, "use a communicator with processes of fewer jobs",
                        "the members belong to %zu jobs; agreements support at most %zu",
                        members_.jobs().size(), max_jobs));
    own_job_.start(vote, [this] { own_job_agreed(); });
}

void Agreement::own_job_agreed() {
    if (own_job_.error() != Err::success) return end_with_failure(own_job_.error());
    votes_.set_vote(members_.own_job(), own_job_.result());
    std::vector<int> failed;
    for (uint32_t i = 0; i < own_job_.failures(); ++i)
        failed.push_back(runtime()->segment.faults().failed_rank(i));
    std::sort(failed.begin(), failed.end());
    for (const int p : members_.own_job_positions())
        if (std::binary_search(failed.begin(), failed.end(), members_.rank_at(p))) votes_.set_failed(p);
    members_.jobs().size() > 1 ? exchange_votes() : conclude();
}

// Every process of another job gets the same message and sends one in return.
void Agreement::exchange_votes() {
    ++round_;
    out_ = votes_.pack();
    in_.assign(members_.ranks().size(), {});
    messages_.begin(own_job_.number(), [this] { votes_exchanged(); });
    for (size_t job = 0; job < members_.jobs().size(); ++job) {
        if (job == members_.own_job()) continue;
        for (const int p : members_.jobs()[job]) {
            std::string& buffer = in_[static_cast<size_t>(p)];
            buffer.resize(out_.size());
            messages_.receive_from(p, buffer.data(), buffer.size());
            messages_.send_to(p, out_.data(), out_.size());
        }
    }
    messages_.launch();
}

// A job has voted if the vote of one of its members arrived. Otherwise all its members count as failed.
void Agreement::votes_exchanged() {
    source_of_.assign(members_.jobs().size(), -1);
    for (const int p : messages_.received_from()) source_of_[members_.job_of(p)] = p;
    uint32_t received = 0;
    for (size_t job = 0; job < source_of_.size(); ++job)
        if (source_of_[job] >= 0) received |= 1U << job;
    own_job_.start({received, 0}, [this] { round_done(); });
}

void Agreement::round_done() {
    if (own_job_.error() != Err::success) return end_with_failure(own_job_.error());
    for (size_t job = 0; job < source_of_.size(); ++job)
        if ((own_job_.result().flags & 1U << job) != 0) votes_.add(in_[static_cast<size_t>(source_of_[job])]);
    round_ + 1 < members_.jobs().size() ? exchange_votes() : conclude();
}

void Agreement::conclude() {
    result_ = votes_.conclude();
    for (const std::vector<int>& job : members_.jobs())
        for (const int p : job)
            if (failed()[static_cast<size_t>(p)] && wire::is_external(members_.rank_at(p)))
                mark_external_failed(members_.rank_at(p));
    end(Err::success);
}

// This job cannot take part; the others must not wait for it.
void Agreement::end_with_failure(Err error) {
    for (const int rank : members_.ranks())
        if (wire::is_external(rank)) mark_external_failed(rank);
    end(error);
}

void Agreement::end(Err error) {
    error_ = error;
    const std::function<void()> ended = std::move(ended_); // it may start the next agreement
    ended();
}

const proto::Operation* Agreement::pending_operation() const {
    const proto::Operation* const message = messages_.pending_operation();
    return message != nullptr ? message : own_job_.pending_operation();
}

} // namespace zipmpi::core
