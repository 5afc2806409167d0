// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Duplication of communicators, blocking or nonblocking. Rank 0 allocates the context and broadcasts it along
// a tree; for an intercommunicator the first ranks of both groups exchange their contexts before. ceil(log2
// p) steps of a few bytes.
#include "core/api/comm.hpp"
#include "core/comm/comm_util.hpp"
#include "core/datatype/datatype.hpp"
#include "core/dpm/connect.hpp"
#include "core/p2p/p2p.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

#include <array>

namespace zipmpi::core {
namespace {

class Duplication;

struct DupStep : proto::Operation {
    Duplication* duplication = nullptr;
};

class Duplication : public CompoundRequest {
  public:
    Duplication(Comm& comm, Comm& copy)
        : comm_(comm)
        , copy_(copy) {}

    // May be complete, and destroyed together with a request, on return.
    void start_for(Request* request);
    // The attribute callbacks failed and the copy is dropped: this process still takes part because the
    // others need it.
    void drop_copy() {
        dropped_ = true;
        ++runtime()->detached_sends; // MPI_Finalize waits for it
    }
    [[nodiscard]] bool finished() const { return finished_; }
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] const proto::Operation* pending_operation() const override {
        for (const DupStep& step : steps_)
            if (step.kind != proto::Operation::Kind::none && !step.done()) return &step;
        return nullptr;
    }

  private:
    void run(DupStep& step, const proto::Operation& op);
    void start_as_leader();
    void on_step_done(const DupStep& step);
    void send_to_children();
    void finish();

    Comm& comm_;
    Comm& copy_;
    Request* request_ = nullptr;
    InterContexts contexts_; // for an intracommunicator, only the context `across`
    uint32_t remote_across_ = 0;
    uint32_t sequence_ = 0;
    int pending_steps_ = 0; // steps in flight, plus one while steps are being started
    bool sending_to_children_ = false;
    bool finished_ = false;
    bool dropped_ = false;
    Err error_ = Err::success;
    std::array<DupStep, 33> steps_; // with the other leader or the parent, then with the children
    size_t used_ = 0;
};

void Duplication::run(DupStep& step, const proto::Operation& op) {
    static_cast<proto::Operation&>(step) = op;
    step.context = op.context | 1U;
    step.tag = proto::collective_tag(sequence_, op.context != comm_.team.context);
    step.duplication = this;
    step.on_done = [](proto::Operation& done) {
        const auto& ended = static_cast<const DupStep&>(done);
        ended.duplication->on_step_done(ended);
    };
    ++pending_steps_;
    start_operation(step);
}

void Duplication::start_for(Request* request) {
    request_ = request;
    proto::Team& own = comm_.own_team();
    sequence_ = ++comm_.team.collectives;
    progress_engine().counters().add(Counter::collectives);
    if (own.rank == 0) return start_as_leader();
    const int parent = own.rank & (own.rank - 1); // own rank without its lowest bit
    run(steps_[used_++], proto::make_recv(own, &contexts_, sizeof contexts_, parent, 0));
}

void Duplication::start_as_leader() {
    const proto::Team& own = comm_.own_team();
    if (!comm_.inter()) {
        contexts_.across = allocate_context(own.size);
        return send_to_children();
    }
    const proto::Team& there = comm_.team;
    contexts_ = allocate_inter_contexts(own.map.world(0), there.map.world(0), own.size, there.size);
    DupStep& in = steps_[used_++];
    DupStep& out = steps_[used_++];
    pending_steps_ = 1; // until both are started
    run(in, proto::make_recv(there, &remote_across_, sizeof remote_across_, 0, 0));
    run(out, proto::make_send(there, &contexts_.across, sizeof contexts_.across, 0, 0));
    if (--pending_steps_ == 0) send_to_children();
}

void Duplication::on_step_done(const DupStep& step) {
    if (step.error != Err::success) error_ = step.error;
    if (--pending_steps_ != 0) return;
    sending_to_children_ ? finish() : send_to_children();
}

void Duplication::send_to_children() {
    sending_to_children_ = true;
    pending_steps_ = 1;
    if (contexts_.across == 0) contexts_.across = remote_across_;
    const proto::Team& own = comm_.own_team();
    int bit = 1;
    while (bit < own.size && (own.rank & bit) == 0) bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2)
        if (own.rank + bit < own.size)
            run(steps_[used_++], proto::make_send(own, &contexts_, sizeof contexts_, own.rank + bit, 0));
    if (--pending_steps_ == 0) finish();
}

// References to external members are counted by context.
void set_context(proto::Team& team, uint32_t context) {
    const proto::Team blank = team;
    team.context = context;
    retain_external(team);
    release_external(blank);
}

void Duplication::finish() {
    set_context(copy_.team, contexts_.across);
    copy_.context = contexts_.across;
    if (copy_.inter()) set_context(*copy_.local, contexts_.local);
    if (error_ == Err::success && (contexts_.across == 0 || (comm_.inter() && contexts_.local == 0)))
        error_ = context_exhausted();
    finished_ = true;
    if (dropped_) {
        release(copy_);
        --runtime()->detached_sends;
    }
    if (request_ == nullptr) return;
    request_->error = error_;
    complete_request(*request_);
}

// A copy without contexts.
Comm* blank_copy(Comm& comm, const Hints& hints) {
    proto::Team team = comm.team;
    team.context = team.collectives = 0;
    Comm* const copy = make_comm(team, "", *comm.errhandler);
    if (copy == nullptr) return nullptr;
    if (comm.inter()) {
        copy->local = std::make_unique<proto::Team>(*comm.local);
        copy->local->context = copy->local->collectives = 0;
        retain_external(*copy->local);
    }
    copy->topology = comm.topology;
    copy->session = comm.session;
    copy->hints = hints;
    return copy;
}

Err duplicate(Comm& comm, const Hints& hints, Comm*& result) {
    Comm* const copy = blank_copy(comm, hints);
    if (copy == nullptr) return comm_alloc_error();
    Duplication duplication(comm, *copy);
    duplication.start_for(nullptr);
    const proto::WaitInfo wait_info{
        [](const void* d, uint32_t) { return static_cast<const Duplication*>(d)->pending_operation(); },
        &duplication, 1, comm.team.collectives};
    proto::wait_until(
        progress_engine(), [&] { return duplication.finished(); }, wait_info);
    Err e = duplication.error();
    if (e == Err::success) e = copy->attributes.copy_from(comm.attributes, comm, *copy);
    if (e == Err::success)
        result = copy;
    else
        release(*copy);
    return e;
}

Err start_duplicate(Comm& comm, const Hints& hints, Comm*& result, Request*& request) {
    Comm* const copy = blank_copy(comm, hints);
    if (copy == nullptr) return comm_alloc_error();
    // A failing attribute callback affects only this process: the others, whose callbacks may succeed, wait
    // for it.
    const Err copied = copy->attributes.copy_from(comm.attributes, comm, *copy);
    std::unique_ptr<Duplication> duplication(new (std::nothrow) Duplication(comm, *copy));
    if (duplication != nullptr) request = make_request(&comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) {
        release(*copy);
        return request_alloc_error();
    }
    Duplication& started = *duplication;
    request->role = Request::composed;
    request->compound = std::move(duplication);
    Request* const made = request;
    if (copied == Err::success) {
        result = copy;
    } else {
        started.drop_copy();
        made->on_done = [](proto::Operation& op) { destroy(static_cast<Request&>(op)); };
        request = nullptr;
    }
    started.start_for(made);
    return copied;
}

Hints hints_from(Info* info) { return info != nullptr ? supported_hints(hints_of(*info)) : Hints(); }

} // namespace

Err comm_dup(Comm& comm, Comm*& copy) { return duplicate(comm, comm.hints, copy); }

Err comm_dup_with_info(Comm& comm, Info* info, Comm*& copy) {
    return duplicate(comm, hints_from(info), copy);
}

Err comm_idup(Comm& comm, Comm*& copy, Request*& request) {
    return start_duplicate(comm, comm.hints, copy, request);
}

Err comm_idup_with_info(Comm& comm, Info* info, Comm*& copy, Request*& request) {
    return start_duplicate(comm, hints_from(info), copy, request);
}

} // namespace zipmpi::core
