// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A call of the program that takes some agreements in turn, waited for or left to progress.
#pragma once

#include "core/fault/agreement.hpp"
#include "core/request/request.hpp"

namespace zipmpi::core {

class Recovery : public Compound {
  public:
    explicit Recovery(Comm& comm)
        : comm_(comm)
        , agreement_(comm) {}

    [[nodiscard]] const proto::Operation* shown() const override { return agreement_.shown(); }
    // Begins, and waits for the end.
    Err run();
    // Begins; it may be finished on return.
    void run_for(Request& request);

  protected:
    virtual void begin() = 0;
    virtual void decided() = 0; // of one agreement, without an error
    virtual void undo() {}      // the call ends with an error
    void agree_on(const Word& said);
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

// Makes the recovery the business of a request and begins it.
Err start_recovery(Comm& comm, std::unique_ptr<Recovery> recovery, Request*& request);

} // namespace zipmpi::core
