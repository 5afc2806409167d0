// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement between processes of several jobs: rounds of messages, after each of which all members of a job
// have equal data.
#include "core/fault/agreement.hpp"
#include "core/fault/fault.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "transport/interjob/interjob_network.hpp"

#include <cstring>
#include <map>

namespace zipmpi::core {
namespace {

// Vote of each job as sent, if known.
struct JobVote {
    uint32_t has_vote = 0;
    Vote vote;
};
static_assert(sizeof(JobVote) == 12);

size_t message_bytes(size_t jobs, size_t members) { return jobs * sizeof(JobVote) + (members + 7) / 8; }

} // namespace

void Agreement::find_jobs() {
    std::map<uint64_t, std::vector<int>> by_job;
    const interjob::InterJobNetwork* const network = runtime()->interjob_network;
    for (size_t p = 0; p < members_.size(); ++p)
        by_job[network != nullptr ? network->name_of(members_[p]).job : 0].push_back(static_cast<int>(p));
    job_of_.resize(members_.size());
    for (auto& [number, positions] : by_job) {
        for (const int p : positions) job_of_[static_cast<size_t>(p)] = jobs_.size();
        jobs_.push_back({std::move(positions), {}, false, -1});
    }
    own_job_ = job_of_[static_cast<size_t>(own_position_)];
}

void Agreement::own_job_agreed() {
    Job& own_job = jobs_[own_job_];
    own_job.has_vote = true;
    own_job.vote = {job_decision_.flags, job_decision_.value};
    for (uint32_t i = 0; i < job_decision_.failed; ++i) {
        const int rank = runtime()->segment.failed_rank(i);
        for (const int p : own_job.positions)
            if (members_[static_cast<size_t>(p)] == rank) failed_[static_cast<size_t>(p)] = true;
    }
    jobs_.size() > 1 ? exchange_votes() : conclude();
}

// Every process of another job gets the same message and sends one in return.
void Agreement::exchange_votes() {
    ++round_;
    out_ = pack();
    in_.assign(members_.size(), {});
    begin_steps(&Agreement::votes_exchanged);
    for (size_t w = 0; w < jobs_.size(); ++w) {
        if (w == own_job_) continue;
        for (const int p : jobs_[w].positions) {
            std::string& buffer = in_[static_cast<size_t>(p)];
            buffer.resize(out_.size());
            receive_from(p, buffer.data(), buffer.size());
            send_to(p, out_.data(), out_.size());
        }
    }
    launch_steps();
}

// A job has voted if the vote of one of its members arrived. Otherwise all its members count as failed.
void Agreement::votes_exchanged() {
    for (Job& w : jobs_) w.received_from = -1;
    for (const Step& s : steps_) {
        if (s.kind == proto::Operation::Kind::recv && s.error == Err::success)
            jobs_[job_of_[static_cast<size_t>(s.peer)]].received_from = s.peer;
    }
    uint32_t received = 0;
    for (size_t w = 0; w < jobs_.size(); ++w)
        if (jobs_[w].received_from >= 0) received |= 1U << w;
    agree_in_job({received, 0}, &Agreement::round_done);
}

void Agreement::round_done() {
    for (size_t w = 0; w < jobs_.size(); ++w)
        if ((job_decision_.flags & 1U << w) != 0) unpack(in_[static_cast<size_t>(jobs_[w].received_from)]);
    round_ + 1 < jobs_.size() ? exchange_votes() : conclude();
}

void Agreement::conclude() {
    for (const Job& w : jobs_) {
        if (w.has_vote) result_.add(w.vote);
        for (const int p : w.positions) {
            const auto at = static_cast<size_t>(p);
            if (!w.has_vote) failed_[at] = true;
            if (failed_[at] && wire::is_external(members_[at])) mark_external_failed(members_[at]);
        }
    }
    end(Err::success);
}

// This job cannot take part; the others must not wait for it.
void Agreement::end_with_failure(Err error) {
    for (const int rank : members_)
        if (wire::is_external(rank)) mark_external_failed(rank);
    end(error);
}

std::string Agreement::pack() const {
    std::string bytes(message_bytes(jobs_.size(), members_.size()), '\0');
    char* at = bytes.data();
    for (const Job& w : jobs_) {
        const JobVote entry{w.has_vote ? 1U : 0U, w.vote};
        std::memcpy(at, &entry, sizeof entry);
        at += sizeof entry;
    }
    for (size_t p = 0; p < failed_.size(); ++p)
        if (failed_[p]) at[p / 8] = static_cast<char>(at[p / 8] | 1 << p % 8);
    return bytes;
}

void Agreement::unpack(const std::string& bytes) {
    const char* const bits = bytes.data() + jobs_.size() * sizeof(JobVote);
    for (size_t i = 0; i < jobs_.size(); ++i) {
        Job& w = jobs_[i];
        JobVote entry;
        std::memcpy(&entry, bytes.data() + i * sizeof entry, sizeof entry);
        if (w.has_vote || entry.has_vote == 0) continue;
        w.has_vote = true;
        w.vote = entry.vote;
        for (const int p : w.positions) failed_[static_cast<size_t>(p)] = (bits[p / 8] >> p % 8 & 1) != 0;
    }
}

} // namespace zipmpi::core
