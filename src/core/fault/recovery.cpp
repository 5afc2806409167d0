// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/recovery.hpp"

#include "core/p2p.hpp"
#include "core/state.hpp"
#include "proto/p2p/lane.hpp"
#include "proto/progress/wait.hpp"

namespace zipmpi::core {

Err Recovery::run() {
    begin();
    proto::WaitNote note{
        [](const void* recovery, uint32_t) { return static_cast<const Recovery*>(recovery)->shown(); }, this,
        1};
    const auto look = [](void* recovery) {
        Agreement::take_decisions();
        return static_cast<Recovery*>(recovery)->finished_;
    };
    note.last_look = look;
    note.waiter = this;
    proto::wait_until(
        lane(), [&] { return finished_ || look(this); }, note);
    return error_;
}

void Recovery::run_for(Request& request) {
    request_ = &request;
    begin();
}

void Recovery::agree_on(const Word& said) {
    agreement_.start(
        said,
        [](void* subject) {
            auto& self = *static_cast<Recovery*>(subject);
            self.agreement_.error() == Err::success ? self.decided() : self.end(self.agreement_.error());
        },
        this);
}

void Recovery::end(Err error) {
    if (error != Err::success) undo();
    error_ = error;
    finished_ = true;
    if (request_ != nullptr) {
        request_->error = error;
        complete_whole(*request_); // this may be gone now
    }
    lane().wake_threads(); // another thread may wait for it
}

Err start_recovery(Comm& comm, std::unique_ptr<Recovery> recovery, Request*& request) {
    request = make_request(&comm, builtin_type(TypeId::BYTE));
    if (request == nullptr) return no_request();
    Recovery& under_way = *recovery;
    request->role = Request::composed;
    request->compound = std::move(recovery);
    under_way.run_for(*request);
    return Err::success;
}

} // namespace zipmpi::core
