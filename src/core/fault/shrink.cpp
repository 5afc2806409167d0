// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPIX_Comm_shrink: members first agree on the survivors, then on contexts, each allocated by the first of
// its users: one, or for an intercommunicator one between the groups and one per group. If a process fails in
// between they start over.
#include "core/api/fault.hpp"
#include "core/comm/comm_util.hpp"
#include "core/dpm/connect.hpp"
#include "core/fault/fault.hpp"
#include "core/fault/recovery.hpp"
#include "core/p2p/p2p.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace zipmpi::core {
namespace {

class ShrinkCall final : public Recovery {
  public:
    ShrinkCall(Comm& comm, Comm& result)
        : Recovery(comm)
        , result_(result) {}

  private:
    void begin() override { agree_on({}); }
    void on_decision() override;
    void undo() override {
        release_contexts();
        result_.cls =
            ObjectKind::revoked_comm; // the application may already have its handle, and can only free it
    }
    void record_survivors();
    void allocate_next_context();
    void release_contexts();
    void initialize_result();
    // World ranks.
    [[nodiscard]] std::vector<int> survivors(int from, int until) const;
    [[nodiscard]] std::vector<int> context_users(size_t context) const;
    [[nodiscard]] const AgreementMembers& members() const { return agreement().members(); }
    [[nodiscard]] int member_count() const { return static_cast<int>(members().ranks().size()); }
    [[nodiscard]] bool in_first_group() const { return members().own_position() < members().first_group(); }

    Comm& result_;
    bool survivors_known_ = false;
    std::vector<bool> failed_; // by position
    std::array<uint32_t, 3> contexts_{};
    std::array<uint32_t, 3> allocated_{}; // by this process
    size_t agreed_contexts_ = 0;          // contexts agreed on
};

std::vector<int> ShrinkCall::survivors(int from, int until) const {
    std::vector<int> ranks;
    for (int p = from; p < until; ++p)
        if (!failed_[static_cast<size_t>(p)]) ranks.push_back(members().rank_at(p));
    return ranks;
}

// Users of the contexts: all, the first group, the second group.
std::vector<int> ShrinkCall::context_users(size_t context) const {
    const int middle = members().first_group();
    return survivors(context == 2 ? middle : 0, context == 1 ? middle : member_count());
}

void ShrinkCall::on_decision() {
    if (!survivors_known_) return record_survivors();
    if (agreement().failed() != failed_) {
        release_contexts();
        return record_survivors();
    }
    contexts_[agreed_contexts_] = agreement().result().value;
    if (contexts_[agreed_contexts_] == 0) return end(context_exhausted());
    ++agreed_contexts_;
    if (agreed_contexts_ < (comm().inter() ? contexts_.size() : 1)) return allocate_next_context();
    initialize_result();
    end(Err::success);
}

void ShrinkCall::record_survivors() {
    survivors_known_ = true;
    failed_ = agreement().failed();
    agreed_contexts_ = 0;
    if (failed_[static_cast<size_t>(members().own_position())])
        return end(fail(Err::proc_failed,
                        "end this process; if its host or network was only slow, raise "
                        "launch.heartbeat_timeout_ms",
                        "this rank was declared failed by the job"));
    if (comm().inter() && (context_users(1).empty() || context_users(2).empty()))
        return end(fail(Err::proc_failed, "continue with a communicator of the local group",
                        "all members of the remote group have failed"));
    allocate_next_context();
}

void ShrinkCall::allocate_next_context() {
    const std::vector<int> ranks = context_users(agreed_contexts_);
    const int self = members().rank_at(members().own_position());
    if (ranks.front() == self)
        allocated_[agreed_contexts_] = allocate_context(static_cast<int>(ranks.size()));
    agree_on({~0U, allocated_[agreed_contexts_]});
}

void ShrinkCall::release_contexts() {
    for (size_t i = 0; i < allocated_.size(); ++i) {
        for (size_t user = 0; allocated_[i] != 0 && user < context_users(i).size(); ++user)
            release_context(allocated_[i]);
        allocated_[i] = 0;
    }
}

void ShrinkCall::initialize_result() {
    const std::vector<int> own = context_users(!comm().inter() ? 0 : in_first_group() ? 1 : 2);
    const int self = members().rank_at(members().own_position());
    const int rank = static_cast<int>(std::ranges::find(own, self) - own.begin());
    if (comm().inter()) {
        result_.local =
            std::make_unique<proto::Team>(make_team(Members(own), rank, contexts_[in_first_group() ? 1 : 2]));
        retain_external(*result_.local);
    }
    const std::vector<int> there = comm().inter() ? context_users(in_first_group() ? 2 : 1) : own;
    result_.team = make_team(Members(there), rank, contexts_[0]);
    result_.peer_count = result_.team.size;
    result_.context = contexts_[0];
    result_.session = comm().session;
    result_.failures_seen = 0; // failures were not evaluated while it was a placeholder
    retain_external(result_.team);
    update_comm_faults(result_);
}

// Not usable yet.
Comm* make_placeholder(const Comm& comm) {
    const Runtime& e = *runtime();
    return make_comm({e.progress_engine.get(), 0, 0, 1, proto::RankMap(e.job.rank), 0}, "", *comm.errhandler);
}

} // namespace

Err comm_shrink(Comm& comm, Comm*& result) {
    Comm* const rest = make_placeholder(comm);
    if (rest == nullptr) return comm_alloc_error();
    const Err e = ShrinkCall(comm, *rest).run();
    if (e == Err::success)
        result = rest;
    else
        release(*rest);
    return e;
}

Err comm_ishrink(Comm& comm, Comm*& result, Request*& request) {
    Comm* const rest = make_placeholder(comm);
    if (rest == nullptr) return comm_alloc_error();
    std::unique_ptr<Recovery> call(new (std::nothrow) ShrinkCall(comm, *rest));
    const Err e = call != nullptr ? start_recovery(comm, std::move(call), request) : request_alloc_error();
    if (e == Err::success)
        result = rest;
    else
        release(*rest);
    return e;
}

} // namespace zipmpi::core
