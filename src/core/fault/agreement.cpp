// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Agreement of the members of one job, and messages between members.
#include "core/fault/agreement.hpp"

#include "core/dpm/connect.hpp"
#include "core/fault/fault.hpp"
#include "core/p2p.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/team.hpp"

#include <algorithm>
#include <climits>

namespace zipmpi::core {
namespace {

std::vector<Agreement*>& pending_agreements() { // matched with launcher decisions; protected by the progress
                                                // engine lock
    static auto* const all = new std::vector<Agreement*>;
    return *all;
}

// Formats world ranks as "0-3,7".
std::string rank_ranges(std::vector<int> ranks) {
    std::sort(ranks.begin(), ranks.end());
    std::string text;
    for (size_t i = 0; i < ranks.size();) {
        size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
        if (end > i + 1) text += "-" + std::to_string(ranks[end - 1]);
        i = end;
    }
    return text;
}

} // namespace

Agreement::Agreement(Comm& comm)
    : comm_(comm)
    , call_(++comm.agreements) {
    const proto::Team& own = comm.own_team();
    const bool first = !comm.inter() || precedes(own.map.world(0), comm.team.map.world(0));
    if (!first) add_members(comm.team, members_);
    own_position_ = static_cast<int>(members_.size()) + own.rank;
    add_members(own, members_);
    if (first && comm.inter()) add_members(comm.team, members_);
    first_group_ = first ? own.size : comm.team.size;
    find_jobs();
}

Agreement::~Agreement() { std::erase(pending_agreements(), this); }

void Agreement::start(const Vote& vote, void (*ended)(void* subject), void* subject) {
    ended_ = ended;
    subject_ = subject;
    error_ = Err::success;
    result_ = {};
    failed_.assign(members_.size(), false);
    round_ = 0;
    for (Job& w : jobs_) w.has_vote = false;
    constexpr size_t max_jobs = 32; // one bit each in the vote of a job
    if (jobs_.size() > max_jobs)
        return end(fail(Err::unsupported_operation, "use a communicator with processes of fewer jobs",
                        "the members belong to %zu jobs; agreements support at most %zu", jobs_.size(),
                        max_jobs));
    agree_in_job(vote, &Agreement::own_job_agreed);
}

void Agreement::agree_in_job(const Vote& vote, Next next) {
    constexpr uint32_t half = 16;
    const uint32_t number = call_ << half | (++step_ & ((1U << half) - 1));
    next_in_job_ = next;
    job_decision_ = {comm_.team.context, number, vote.flags, vote.value, 0};
    launcher_wait_.context = comm_.team.context;
    if (own_positions().size() == 1) return job_agreed();
    if (has_native_launcher()) return agree_through_launcher(vote);
    // The leader collects all votes and sends the result to the others.
    const int leader = own_positions().front();
    votes_.assign(own_positions().size(), vote);
    begin_steps(own_position_ == leader ? &Agreement::reduce_votes : &Agreement::receive_result);
    for (size_t i = 1; own_position_ == leader && i < votes_.size(); ++i)
        receive_from(own_positions()[i], &votes_[i], sizeof votes_[i]);
    if (own_position_ != leader) {
        send_to(leader, &votes_[0], sizeof votes_[0]);
        receive_from(leader, &votes_[1], sizeof votes_[1]);
    }
    launch_steps();
}

void Agreement::agree_through_launcher(const Vote& vote) {
    std::vector<int> ranks;
    for (const int p : own_positions()) ranks.push_back(members_[static_cast<size_t>(p)]);
    pending_agreements().push_back(this);
    if (runtime()->job.launcher->notify(
            "what=agree context=" + std::to_string(job_decision_.context) +
            " number=" + std::to_string(job_decision_.number) + " flags=" + std::to_string(vote.flags) +
            " value=" + std::to_string(vote.value) + " members=" + rank_ranges(ranks)))
        return;
    std::erase(pending_agreements(), this);
    end_with_failure(fail(Err::other, "use a communicator whose ranks form few contiguous ranges",
                          "the launcher rejected the list of %zu members", ranks.size()));
}

void Agreement::reduce_votes() {
    for (const Step& s : steps_)
        if (s.error != Err::success) return end_with_failure(s.error);
    for (size_t i = 1; i < votes_.size(); ++i) votes_[0].add(votes_[i]);
    begin_steps(&Agreement::job_agreed);
    for (size_t i = 1; i < votes_.size(); ++i) send_to(own_positions()[i], &votes_[0], sizeof votes_[0]);
    job_decision_.flags = votes_[0].flags;
    job_decision_.value = votes_[0].value;
    launch_steps();
}

void Agreement::receive_result() {
    for (const Step& s : steps_)
        if (s.error != Err::success) return end_with_failure(s.error);
    job_decision_.flags = votes_[1].flags;
    job_decision_.value = votes_[1].value;
    job_agreed();
}

void Agreement::job_agreed() { (this->*next_in_job_)(); }

// Failures counted by a decision are stored in the segment before it.
int Agreement::take_decisions() {
    const Runtime& e = *runtime();
    const auto local = static_cast<uint32_t>(e.job.local_index);
    std::vector<segment::AgreementResult> taken;
    for (segment::AgreementResult d; e.segment.take_agreement(local, d);) taken.push_back(d);
    if (taken.empty()) return 0;
    if (e.segment.take_agreement_overflow(local) && e.job.launcher != nullptr)
        static_cast<void>(e.job.launcher->notify("what=taken"));
    progress_engine().poll_faults();
    for (const segment::AgreementResult& d : taken) {
        const auto found = std::ranges::find_if(pending_agreements(), [&](const Agreement* a) {
            return a->job_decision_.context == d.context && a->job_decision_.number == d.number;
        });
        if (found == pending_agreements().end()) continue;
        Agreement& agreement = **found;
        pending_agreements().erase(found);
        agreement.job_decision_ = d;
        agreement.job_agreed();
    }
    return static_cast<int>(taken.size());
}

const proto::Operation* Agreement::pending_operation() const {
    for (const Step& s : steps_)
        if (pending_ > 0 && !s.done()) return &s;
    return &launcher_wait_;
}

void Agreement::begin_steps(Next next) {
    steps_.clear();
    next_ = next;
    pending_ = 1;
}

// These messages are separate from all other messages of the communicator and work on a revoked one:
// proto::survives_revocation().
void Agreement::add_step(int position, const void* data, size_t bytes, bool sends) {
    constexpr uint32_t numbers = 0x3fffffffU;
    const int tag = INT_MIN + static_cast<int>(job_decision_.number & numbers);
    Step& s = steps_.emplace_back();
    s.kind = sends ? proto::Operation::Kind::send : proto::Operation::Kind::recv;
    s.context = comm_.team.context | proto::partitioned_context | 1U;
    s.source = sends ? own_position_ : position;
    s.tag = tag;
    s.peer = position;
    s.world_peer = members_[static_cast<size_t>(position)];
    s.buffer = static_cast<std::byte*>(const_cast<void*>(data));
    s.bytes = bytes;
    s.agreement = this;
    s.on_done = [](proto::Operation& done) { static_cast<Step&>(done).agreement->step_done(); };
}

void Agreement::launch_steps() {
    pending_ += static_cast<int>(steps_.size());
    for (Step& s : steps_) start_operation(s);
    step_done();
}

void Agreement::step_done() {
    if (--pending_ == 0) (this->*next_)();
}

void Agreement::end(Err error) {
    error_ = error;
    ended_(subject_);
}

} // namespace zipmpi::core
