// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The agreement of the members of one job, and messages between members.
#include "core/fault/agreement.hpp"

#include "core/fault/fault.hpp"
#include "core/p2p.hpp"
#include "core/state.hpp"
#include "core/worlds/worlds.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/team.hpp"

#include <algorithm>
#include <climits>

namespace zipmpi::core {
namespace {

std::vector<Agreement*>& waiting() { // for the launcher; under the engine lock
    static auto* const all = new std::vector<Agreement*>;
    return *all;
}

// "0-3,7": ranks of the job.
std::string runs_of(std::vector<int> ranks) {
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
    const bool first = !comm.inter() || goes_before(own.map.world(0), comm.team.map.world(0));
    if (!first) add_members(comm.team, members_);
    own_ = static_cast<int>(members_.size()) + own.rank;
    add_members(own, members_);
    if (first && comm.inter()) add_members(comm.team, members_);
    first_group_ = first ? own.size : comm.team.size;
    find_worlds();
}

Agreement::~Agreement() { std::erase(waiting(), this); }

void Agreement::start(const Word& said, void (*ended)(void* subject), void* subject) {
    ended_ = ended;
    subject_ = subject;
    error_ = Err::success;
    result_ = {};
    failed_.assign(members_.size(), false);
    round_ = 0;
    for (World& w : worlds_) w.known = false;
    constexpr size_t most_worlds = 32; // one bit each in what a job agrees on
    if (worlds_.size() > most_worlds)
        return end(fail(Err::unsupported_operation, "use communicators with processes of fewer jobs",
                        "the members belong to %zu jobs, of which %zu at most can agree", worlds_.size(),
                        most_worlds));
    agree_here(said, &Agreement::own_world_has_spoken);
}

void Agreement::agree_here(const Word& said, Next next) {
    constexpr uint32_t half = 16;
    const uint32_t number = call_ << half | (++step_ & ((1U << half) - 1));
    next_here_ = next;
    here_ = {comm_.team.context, number, said.flags, said.value, 0};
    decision_.context = comm_.team.context;
    if (own_positions().size() == 1) return here_done();
    if (launcher_helps()) return ask_launcher(said);
    // One of them has all words and tells the others.
    const int leader = own_positions().front();
    words_.assign(own_positions().size(), said);
    begin_steps(own_ == leader ? &Agreement::gather_words : &Agreement::return_words);
    for (size_t i = 1; own_ == leader && i < words_.size(); ++i)
        receive_from(own_positions()[i], &words_[i], sizeof words_[i]);
    if (own_ != leader) {
        send_to(leader, &words_[0], sizeof words_[0]);
        receive_from(leader, &words_[1], sizeof words_[1]);
    }
    launch_steps();
}

void Agreement::ask_launcher(const Word& said) {
    std::vector<int> ranks;
    for (const int p : own_positions()) ranks.push_back(members_[static_cast<size_t>(p)]);
    waiting().push_back(this);
    if (engine()->job.launcher->tell("what=agree context=" + std::to_string(here_.context) + " number=" +
                                     std::to_string(here_.number) + " flags=" + std::to_string(said.flags) +
                                     " value=" + std::to_string(said.value) + " members=" + runs_of(ranks)))
        return;
    std::erase(waiting(), this);
    cut_off(fail(Err::other, "use communicators whose ranks lie side by side",
                 "the launcher does not take the list of %zu members", ranks.size()));
}

void Agreement::gather_words() {
    for (const Step& s : steps_)
        if (s.error != Err::success) return cut_off(s.error);
    for (size_t i = 1; i < words_.size(); ++i) words_[0].add(words_[i]);
    begin_steps(&Agreement::here_done);
    for (size_t i = 1; i < words_.size(); ++i) send_to(own_positions()[i], &words_[0], sizeof words_[0]);
    here_.flags = words_[0].flags;
    here_.value = words_[0].value;
    launch_steps();
}

void Agreement::return_words() {
    for (const Step& s : steps_)
        if (s.error != Err::success) return cut_off(s.error);
    here_.flags = words_[1].flags;
    here_.value = words_[1].value;
    here_done();
}

void Agreement::here_done() { (this->*next_here_)(); }

// Failures that a decision counts are in the segment before it.
int Agreement::take_decisions() {
    const Engine& e = *engine();
    const auto local = static_cast<uint32_t>(e.job.local_index);
    std::vector<boot::Decided> taken;
    for (boot::Decided d; e.segment.take_decision(local, d);) taken.push_back(d);
    if (taken.empty()) return 0;
    if (e.segment.has_more_decisions(local) && e.job.launcher != nullptr)
        static_cast<void>(e.job.launcher->tell("what=taken"));
    lane().look_for_news();
    for (const boot::Decided& d : taken) {
        const auto found = std::ranges::find_if(waiting(), [&](const Agreement* a) {
            return a->here_.context == d.context && a->here_.number == d.number;
        });
        if (found == waiting().end()) continue;
        Agreement& agreement = **found;
        waiting().erase(found);
        agreement.here_ = d;
        agreement.here_done();
    }
    return static_cast<int>(taken.size());
}

const proto::Operation* Agreement::shown() const {
    for (const Step& s : steps_)
        if (open_ > 0 && !s.done()) return &s;
    return &decision_;
}

void Agreement::begin_steps(Next next) {
    steps_.clear();
    next_ = next;
    open_ = 1;
}

// They go beside all other messages of the communicator, and work on a revoked one: proto::survives().
void Agreement::add_step(int position, const void* data, size_t bytes, bool sends) {
    constexpr uint32_t numbers = 0x3fffffffU;
    const int tag = INT_MIN + static_cast<int>(here_.number & numbers);
    Step& s = steps_.emplace_back();
    s.kind = sends ? proto::Operation::Kind::send : proto::Operation::Kind::recv;
    s.context = comm_.team.context | proto::partitioned_context | 1U;
    s.source = sends ? own_ : position;
    s.tag = tag;
    s.peer = position;
    s.world_peer = members_[static_cast<size_t>(position)];
    s.buffer = static_cast<std::byte*>(const_cast<void*>(data));
    s.bytes = bytes;
    s.whole = this;
    s.on_done = [](proto::Operation& done) { static_cast<Step&>(done).whole->step_done(); };
}

void Agreement::launch_steps() {
    open_ += static_cast<int>(steps_.size());
    for (Step& s : steps_) start_operation(s);
    step_done();
}

void Agreement::step_done() {
    if (--open_ == 0) (this->*next_)();
}

void Agreement::end(Err error) {
    error_ = error;
    ended_(subject_);
}

} // namespace zipmpi::core
