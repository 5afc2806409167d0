// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "proto/rma/am_receiver.hpp"

#include "proto/p2p/progress_engine.hpp"
#include "wire/rma_layout.hpp"

namespace zipmpi::proto::rma {

AmReceiver::AmReceiver(const Team& team, int tag, AmHandler& handler)
    : engine_(*team.engine)
    , handler_(handler)
    , buffer_(wire::rma_message_bytes) {
    set_recv(operation_, team, buffer_.data(), buffer_.size(), any_source, tag);
    operation_.owner = this;
    operation_.on_done = [](Operation& op) {
        AmReceiver& r = *static_cast<Receive&>(op).owner;
        r.engine_.hooks().defer(r.task_);
    };
    task_.owner = this;
    task_.run = [](DeferredTask& task) { static_cast<HandleTask&>(task).owner->handle(); };
    post();
}

AmReceiver::~AmReceiver() {
    engine_.hooks().cancel(task_);
    if (!operation_.done()) engine_.abandon_recv(operation_);
}

void AmReceiver::handle() {
    if (operation_.error == Err::success)
        handler_.on_message(operation_.matched_source, buffer_.data(), operation_.received);
    post();
}

void AmReceiver::post() {
    operation_.reset();
    engine_.start_recv(operation_);
}

} // namespace zipmpi::proto::rma
