// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/recovery.hpp"

#include "core/p2p/p2p.hpp"
#include "core/runtime_state.hpp"
#include "proto/p2p/progress_engine.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {

Err Recovery::run() {
    begin();
    proto::WaitInfo wait_info{[](const void* recovery, uint32_t) {
                                  return static_cast<const Recovery*>(recovery)->pending_operation();
                              },
                              this, 1};
    const auto poll_decisions = [](void* recovery) {
        JobAgreement::take_decisions();
        return static_cast<Recovery*>(recovery)->finished_;
    };
    wait_info.final_check = poll_decisions;
    wait_info.waiter = this;
    proto::wait_until(
        progress_engine(), [&] { return finished_ || poll_decisions(this); }, wait_info);
    return error_;
}

void Recovery::start_for(Request& request) {
    request_ = &request;
    begin();
}

void Recovery::agree_on(const Vote& vote) {
    agreement_.start(
        vote, [this] { agreement_.error() == Err::success ? on_decision() : end(agreement_.error()); });
}

void Recovery::end(Err error) {
    if (error != Err::success) undo();
    error_ = error;
    finished_ = true;
    if (request_ != nullptr) {
        request_->error = error;
        complete_request(*request_); // may have destroyed this object
    }
    progress_engine().engine_lock().wake_waiters(); // another thread may wait for it
}

Err start_recovery(Comm& comm, std::unique_ptr<Recovery> recovery, Request*& request) {
    request = make_request(&comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) return request_alloc_error();
    Recovery& active = *recovery;
    request->role = Request::composed;
    request->compound = std::move(recovery);
    active.start_for(*request);
    return Err::success;
}

} // namespace zipmpi::core
