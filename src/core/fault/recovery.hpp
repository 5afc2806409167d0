// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A user call that takes several agreements in sequence, blocking or nonblocking.
#pragma once

#include "core/fault/agreement.hpp"
#include "core/request/request.hpp"

namespace zipmpi::core {

class Recovery : public CompoundRequest {
  public:
    explicit Recovery(Comm& comm)
        : comm_(comm)
        , agreement_(comm) {}

    [[nodiscard]] const proto::Operation* pending_operation() const override {
        return agreement_.pending_operation();
    }
    // Starts and waits for completion.
    Err run();
    // Starts; may be complete on return.
    void start_for(Request& request);

  protected:
    virtual void begin() = 0;
    virtual void on_decision() = 0; // one agreement succeeded
    virtual void undo() {}          // the call ends with an error
    void agree_on(const Vote& vote);
    void end(Err error);
    [[nodiscard]] Comm& comm() { return comm_; }
    [[nodiscard]] const Agreement& agreement() const { return agreement_; }

  private:
    Comm& comm_;
    Agreement agreement_;
    Request* request_ = nullptr;
    bool finished_ = false;
    Err error_ = Err::success;
};

// Attaches the recovery to a new request and starts it.
Err start_recovery(Comm& comm, std::unique_ptr<Recovery> recovery, Request*& request);

} // namespace zipmpi::core
