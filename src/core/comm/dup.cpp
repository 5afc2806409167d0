// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies of communicators, blocking or not: the same messages, waited for or left to progress. The first rank
// draws the context and it goes down a tree; of an intercommunicator the first ranks of both groups exchange
// what they drew before. ceil(log2 p) steps of a few bytes.
#include "core/comm/make.hpp"
#include "core/datatype/datatype.hpp"
#include "core/p2p.hpp"
#include "core/worlds/worlds.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"

#include <array>

namespace zipmpi::core {
namespace {

class Duplication;

struct Step : proto::Operation {
    Duplication* whole = nullptr;
};

class Duplication : public Compound {
  public:
    Duplication(Comm& comm, Comm& copy)
        : comm_(comm)
        , copy_(copy) {}

    // It may be finished, and with a request gone, on return.
    void start_for(Request* request);
    // Nobody wants the copy: the others do, and this process does its part.
    void drop_copy() {
        dropped_ = true;
        ++engine()->loose_sends; // MPI_Finalize waits for it
    }
    [[nodiscard]] bool finished() const { return finished_; }
    [[nodiscard]] Err error() const { return error_; }
    [[nodiscard]] const proto::Operation* shown() const override {
        for (const Step& step : steps_)
            if (step.kind != proto::Operation::Kind::none && !step.done()) return &step;
        return nullptr;
    }

  private:
    void run(Step& step, const proto::Operation& op);
    void lead();
    void step_done(const Step& step);
    void pass_down();
    void finish();

    Comm& comm_;
    Comm& copy_;
    Request* request_ = nullptr;
    InterContexts contexts_; // of an intracommunicator: across only
    uint32_t across_there_ = 0;
    uint32_t sequence_ = 0;
    int open_ = 0; // steps under way, and one while more may be started
    bool down_ = false;
    bool finished_ = false;
    bool dropped_ = false;
    Err error_ = Err::success;
    std::array<Step, 33> steps_; // to and from the other leader or from the parent, then to the children
    size_t used_ = 0;
};

void Duplication::run(Step& step, const proto::Operation& op) {
    static_cast<proto::Operation&>(step) = op;
    step.context = op.context | 1U;
    step.tag = proto::collective_tag(sequence_, op.context != comm_.team.context);
    step.whole = this;
    step.on_done = [](proto::Operation& done) {
        const auto& ended = static_cast<const Step&>(done);
        ended.whole->step_done(ended);
    };
    ++open_;
    start_operation(step);
}

void Duplication::start_for(Request* request) {
    request_ = request;
    proto::Team& own = comm_.own_team();
    sequence_ = ++comm_.team.collectives;
    lane().counters().add(Counter::collectives);
    if (own.rank == 0) return lead();
    const int parent = own.rank & (own.rank - 1); // without its lowest bit
    run(steps_[used_++], proto::make_recv(own, &contexts_, sizeof contexts_, parent, 0));
}

void Duplication::lead() {
    const proto::Team& own = comm_.own_team();
    if (!comm_.inter()) {
        contexts_.across = draw_context(own.size);
        return pass_down();
    }
    const proto::Team& there = comm_.team;
    contexts_ = draw_inter_contexts(own.map.world(0), there.map.world(0), own.size, there.size);
    Step& in = steps_[used_++];
    Step& out = steps_[used_++];
    open_ = 1; // until both are started
    run(in, proto::make_recv(there, &across_there_, sizeof across_there_, 0, 0));
    run(out, proto::make_send(there, &contexts_.across, sizeof contexts_.across, 0, 0));
    if (--open_ == 0) pass_down();
}

void Duplication::step_done(const Step& step) {
    if (step.error != Err::success) error_ = step.error;
    if (--open_ != 0) return;
    down_ ? finish() : pass_down();
}

void Duplication::pass_down() {
    down_ = true;
    open_ = 1;
    if (contexts_.across == 0) contexts_.across = across_there_;
    const proto::Team& own = comm_.own_team();
    int bit = 1;
    while (bit < own.size && (own.rank & bit) == 0) bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2)
        if (own.rank + bit < own.size)
            run(steps_[used_++], proto::make_send(own, &contexts_, sizeof contexts_, own.rank + bit, 0));
    if (--open_ == 0) finish();
}

void Duplication::finish() {
    copy_.context = copy_.team.context = contexts_.across;
    if (copy_.inter()) copy_.local->context = contexts_.local;
    if (error_ == Err::success && (contexts_.across == 0 || (comm_.inter() && contexts_.local == 0)))
        error_ = no_context();
    finished_ = true;
    if (dropped_) {
        release(copy_);
        --engine()->loose_sends;
    }
    if (request_ == nullptr) return;
    request_->error = error_;
    complete_whole(*request_);
}

// Without contexts yet.
Comm* blank_copy(Comm& comm, const Hints& hints) {
    proto::Team team = comm.team;
    team.context = team.collectives = 0;
    Comm* const copy = make_comm(team, "", *comm.errhandler);
    if (copy == nullptr) return nullptr;
    if (comm.inter()) {
        copy->local = std::make_unique<proto::Team>(*comm.local);
        copy->local->context = copy->local->collectives = 0;
        hold_foreign(*copy->local);
    }
    copy->topology = comm.topology;
    copy->session = comm.session;
    copy->hints = hints;
    return copy;
}

Err duplicate(Comm& comm, const Hints& hints, Comm*& result) {
    Comm* const copy = blank_copy(comm, hints);
    if (copy == nullptr) return no_comm();
    Duplication duplication(comm, *copy);
    duplication.start_for(nullptr);
    const proto::WaitNote note{
        [](const void* d, uint32_t) { return static_cast<const Duplication*>(d)->shown(); }, &duplication, 1,
        comm.team.collectives};
    proto::wait_until(
        lane(), [&] { return duplication.finished(); }, note);
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
    if (copy == nullptr) return no_comm();
    // Functions of the program decide here alone: the others, whose functions may agree, wait for this
    // process.
    const Err copied = copy->attributes.copy_from(comm.attributes, comm, *copy);
    std::unique_ptr<Duplication> duplication(new (std::nothrow) Duplication(comm, *copy));
    if (duplication != nullptr) request = make_request(&comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) {
        release(*copy);
        return no_request();
    }
    Duplication& under_way = *duplication;
    request->role = Request::composed;
    request->compound = std::move(duplication);
    Request* const made = request;
    if (copied == Err::success) {
        result = copy;
    } else {
        under_way.drop_copy();
        made->on_done = [](proto::Operation& op) { destroy(static_cast<Request&>(op)); };
        request = nullptr;
    }
    under_way.start_for(made);
    return copied;
}

Hints given_by(Info* info) { return info != nullptr ? understood(hints_of(*info)) : Hints(); }

} // namespace

Err comm_dup(Comm& comm, Comm*& copy) { return duplicate(comm, comm.hints, copy); }

Err comm_dup_with_info(Comm& comm, Info* info, Comm*& copy) { return duplicate(comm, given_by(info), copy); }

Err comm_idup(Comm& comm, Comm*& copy, Request*& request) {
    return start_duplicate(comm, comm.hints, copy, request);
}

Err comm_idup_with_info(Comm& comm, Info* info, Comm*& copy, Request*& request) {
    return start_duplicate(comm, given_by(info), copy, request);
}

} // namespace zipmpi::core
