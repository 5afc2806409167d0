// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/job_agreement.hpp"

#include "core/fault/fault.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace zipmpi::core {
namespace {

// Matched with launcher decisions; protected by the progress engine lock.
std::vector<JobAgreement*>& pending_agreements() {
    static auto* const all = new std::vector<JobAgreement*>;
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

JobAgreement::JobAgreement(Comm& comm, const AgreementMembers& members)
    : context_(comm.team.context)
    , call_(++comm.agreements)
    , members_(members)
    , messages_(context_, members) {
    launcher_wait_.context = context_;
}

JobAgreement::~JobAgreement() { std::erase(pending_agreements(), this); }

void JobAgreement::start(const Vote& vote, std::function<void()> ended) {
    constexpr uint32_t half = 16;
    const uint32_t number = call_ << half | (++step_ & ((1U << half) - 1));
    ended_ = std::move(ended);
    decision_ = {context_, number, vote.flags, vote.value, 0};
    if (members_.own_job_positions().size() == 1) return end(Err::success);
    if (has_native_launcher()) return agree_through_launcher(vote);
    members_.own_position() == members_.own_job_positions().front() ? collect_votes(vote) : send_vote(vote);
}

void JobAgreement::agree_through_launcher(const Vote& vote) {
    std::vector<int> ranks;
    for (const int p : members_.own_job_positions()) ranks.push_back(members_.rank_at(p));
    pending_agreements().push_back(this);
    if (runtime()->job.launcher->notify(
            "what=agree context=" + std::to_string(decision_.context) +
            " number=" + std::to_string(decision_.number) + " flags=" + std::to_string(vote.flags) +
            " value=" + std::to_string(vote.value) + " members=" + rank_ranges(ranks)))
        return;
    std::erase(pending_agreements(), this);
    end(fail(Err::other, "use a communicator whose ranks form few contiguous ranges",
             "the launcher rejected the list of %zu members", ranks.size()));
}

// The first member collects all votes and sends the result to the others.
void JobAgreement::collect_votes(const Vote& vote) {
    votes_.assign(members_.own_job_positions().size(), vote);
    messages_.begin(number(), [this] { distribute_result(); });
    for (size_t i = 1; i < votes_.size(); ++i)
        messages_.receive_from(members_.own_job_positions()[i], &votes_[i], sizeof votes_[i]);
    messages_.launch();
}

void JobAgreement::distribute_result() {
    if (const Err e = messages_.first_error(); e != Err::success) return end(e);
    for (size_t i = 1; i < votes_.size(); ++i) votes_[0].add(votes_[i]);
    messages_.begin(number(), [this] { decide(votes_[0]); });
    for (size_t i = 1; i < votes_.size(); ++i)
        messages_.send_to(members_.own_job_positions()[i], &votes_[0], sizeof votes_[0]);
    messages_.launch();
}

void JobAgreement::send_vote(const Vote& vote) {
    votes_.assign(2, vote); // own vote, and the result
    const int first = members_.own_job_positions().front();
    messages_.begin(number(), [this] {
        const Err e = messages_.first_error();
        e == Err::success ? decide(votes_[1]) : end(e);
    });
    messages_.send_to(first, &votes_[0], sizeof votes_[0]);
    messages_.receive_from(first, &votes_[1], sizeof votes_[1]);
    messages_.launch();
}

void JobAgreement::decide(const Vote& result) {
    decision_.flags = result.flags;
    decision_.value = result.value;
    end(Err::success);
}

void JobAgreement::end(Err error) {
    error_ = error;
    const std::function<void()> ended = std::move(ended_); // it may start the next agreement
    ended();
}

// Failures counted by a decision are stored in the segment before it.
int JobAgreement::take_decisions() {
    const Runtime& e = *runtime();
    const auto local = static_cast<uint32_t>(e.job.local_index);
    std::vector<segment::AgreementResult> taken;
    for (segment::AgreementResult d; e.segment.agreements().take(local, d);) taken.push_back(d);
    if (taken.empty()) return 0;
    if (e.segment.agreements().take_overflow(local) && e.job.launcher != nullptr)
        static_cast<void>(e.job.launcher->notify("what=taken"));
    progress_engine().faults().poll();
    for (const segment::AgreementResult& d : taken) {
        const auto found = std::ranges::find_if(pending_agreements(), [&](const JobAgreement* a) {
            return a->decision_.context == d.context && a->decision_.number == d.number;
        });
        if (found == pending_agreements().end()) continue;
        JobAgreement& agreement = **found;
        pending_agreements().erase(found);
        agreement.decision_ = d;
        agreement.end(Err::success);
    }
    return static_cast<int>(taken.size());
}

const proto::Operation* JobAgreement::pending_operation() const {
    const proto::Operation* const message = messages_.pending_operation();
    return message != nullptr ? message : &launcher_wait_;
}

} // namespace zipmpi::core
