// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/coll/collective.hpp"

#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto::coll {

Collective::Collective(Team& team, Form form)
    : form_(form)
    , schedule_({team.context, ++team.collectives})
    , run_(*team.engine, schedule_) {
    team.engine->counters().add(Counter::collectives);
}

void Collective::start() { run_.start(is_fault(phase_error_) ? phase_error_ : schedule_.state()); }

Err Collective::run() {
    if (schedule_.empty()) return schedule_.state() != Err::success ? schedule_.state() : phase_error_;
    start();
    run_.wait();
    return phase_error_ != Err::success ? phase_error_ : run_.error();
}

void Collective::run_pending_steps() {
    if (schedule_.state() != Err::success) return;
    record_error(run());
    schedule_.clear_steps();
}

} // namespace zipmpi::proto::coll
