// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPIX_Comm_shrink: first all agree on who lives, then on contexts, each of which the first of those who use
// it draws: one, or of an intercommunicator one across and one for each group. If somebody dies in between
// they begin again.
#include "core/comm/make.hpp"
#include "core/fault/fault.hpp"
#include "core/fault/recovery.hpp"
#include "core/p2p.hpp"
#include "core/worlds/worlds.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace zipmpi::core {
namespace {

class Shrinking final : public Recovery {
  public:
    Shrinking(Comm& comm, Comm& result)
        : Recovery(comm)
        , result_(result) {}

  private:
    void begin() override { agree_on({}); }
    void decided() override;
    void undo() override {
        give_back();
        result_.cls = Class::revoked_comm; // the program may have its handle already, and can only free it
    }
    void note_who_lives();
    void draw();
    void give_back();
    void fill_in();
    // Ranks of the job.
    [[nodiscard]] std::vector<int> living(int from, int until) const;
    [[nodiscard]] std::vector<int> users(size_t context) const;
    [[nodiscard]] int all() const { return static_cast<int>(agreement().members().size()); }
    [[nodiscard]] bool in_first_group() const { return agreement().own() < agreement().first_group(); }

    Comm& result_;
    bool who_is_known_ = false;
    std::vector<bool> dead_; // by position
    std::array<uint32_t, 3> contexts_{};
    std::array<uint32_t, 3> drawn_{}; // by this process
    size_t known_ = 0;                // contexts
};

std::vector<int> Shrinking::living(int from, int until) const {
    std::vector<int> ranks;
    for (int p = from; p < until; ++p)
        if (!dead_[static_cast<size_t>(p)]) ranks.push_back(agreement().members()[static_cast<size_t>(p)]);
    return ranks;
}

// Of the contexts: all, the first group, the second.
std::vector<int> Shrinking::users(size_t context) const {
    const int middle = agreement().first_group();
    return living(context == 2 ? middle : 0, context == 1 ? middle : all());
}

void Shrinking::decided() {
    if (!who_is_known_) return note_who_lives();
    if (agreement().failed() != dead_) {
        give_back();
        return note_who_lives();
    }
    contexts_[known_] = agreement().word().value;
    if (contexts_[known_] == 0) return end(no_context());
    ++known_;
    if (known_ < (comm().inter() ? contexts_.size() : 1)) return draw();
    fill_in();
    end(Err::success);
}

void Shrinking::note_who_lives() {
    who_is_known_ = true;
    dead_ = agreement().failed();
    known_ = 0;
    if (dead_[static_cast<size_t>(agreement().own())])
        return end(fail(Err::proc_failed, "end this process", "the other ranks take this one for failed"));
    if (comm().inter() && (users(1).empty() || users(2).empty()))
        return end(fail(Err::proc_failed, "go on with a communicator of the own group",
                        "all members of the remote group have failed"));
    draw();
}

void Shrinking::draw() {
    const std::vector<int> ranks = users(known_);
    const int self = agreement().members()[static_cast<size_t>(agreement().own())];
    if (ranks.front() == self) drawn_[known_] = draw_context(static_cast<int>(ranks.size()));
    agree_on({~0U, drawn_[known_]});
}

void Shrinking::give_back() {
    for (size_t i = 0; i < drawn_.size(); ++i) {
        for (size_t user = 0; drawn_[i] != 0 && user < users(i).size(); ++user) give_back_context(drawn_[i]);
        drawn_[i] = 0;
    }
}

void Shrinking::fill_in() {
    const std::vector<int> own = users(!comm().inter() ? 0 : in_first_group() ? 1 : 2);
    const int self = agreement().members()[static_cast<size_t>(agreement().own())];
    const int rank = static_cast<int>(std::ranges::find(own, self) - own.begin());
    if (comm().inter()) {
        result_.local =
            std::make_unique<proto::Team>(make_team(Members(own), rank, contexts_[in_first_group() ? 1 : 2]));
        hold_foreign(*result_.local);
    }
    const std::vector<int> there = comm().inter() ? users(in_first_group() ? 2 : 1) : own;
    result_.team = make_team(Members(there), rank, contexts_[0]);
    result_.peers = result_.team.size;
    result_.context = contexts_[0];
    result_.session = comm().session;
    result_.failures_seen = 0; // as long as it was blank nobody's failure concerned it
    hold_foreign(result_.team);
    look_for_faults(result_);
}

// Not usable yet.
Comm* make_blank(const Comm& comm) {
    const Engine& e = *engine();
    return make_comm({e.lane.get(), 0, 0, 1, proto::RankMap(e.job.rank), 0}, "", *comm.errhandler);
}

} // namespace

Err comm_shrink(Comm& comm, Comm*& result) {
    Comm* const rest = make_blank(comm);
    if (rest == nullptr) return no_comm();
    const Err e = Shrinking(comm, *rest).run();
    if (e == Err::success)
        result = rest;
    else
        release(*rest);
    return e;
}

Err comm_ishrink(Comm& comm, Comm*& result, Request*& request) {
    Comm* const rest = make_blank(comm);
    if (rest == nullptr) return no_comm();
    std::unique_ptr<Recovery> call(new (std::nothrow) Shrinking(comm, *rest));
    const Err e = call != nullptr ? start_recovery(comm, std::move(call), request) : no_request();
    if (e == Err::success)
        result = rest;
    else
        release(*rest);
    return e;
}

} // namespace zipmpi::core
