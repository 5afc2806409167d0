// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPIX_Comm_agree: members first agree on flags and failed members, then on whether all members have
// acknowledged those failures. Without failures the first agreement suffices.
#include "core/api/fault.hpp"
#include "core/fault/fault.hpp"
#include "core/fault/recovery.hpp"
#include "core/p2p/p2p.hpp"

#include <algorithm>
#include <new>

namespace zipmpi::core {
namespace {

class AgreeCall final : public Recovery {
  public:
    AgreeCall(Comm& comm, int& flag)
        : Recovery(comm)
        , flag_(flag)
        , acknowledged_(comm.failed.begin(),
                        comm.failed.begin() + static_cast<ptrdiff_t>(comm.acknowledged)) {}

  private:
    void begin() override { agree_on({static_cast<uint32_t>(flag_), 0}); }
    void on_decision() override;
    [[nodiscard]] bool acknowledged_all_failures() const;

    int& flag_;
    std::vector<int> acknowledged_; // before the call
    int failures_ = -1;             // -1: not determined yet
};

bool AgreeCall::acknowledged_all_failures() const {
    for (size_t p = 0; p < agreement().failed().size(); ++p)
        if (agreement().failed()[p] &&
            std::ranges::count(acknowledged_, agreement().members().ranks()[p]) == 0)
            return false;
    return true;
}

void AgreeCall::on_decision() {
    if (failures_ < 0) {
        flag_ = static_cast<int>(agreement().result().flags);
        failures_ = static_cast<int>(std::ranges::count(agreement().failed(), true));
        return failures_ == 0 ? end(Err::success) : agree_on({~0U, acknowledged_all_failures() ? 0U : 1U});
    }
    end(agreement().result().value == 0
            ? Err::success
            : fail(Err::proc_failed, "acknowledge failures with MPIX_Comm_ack_failed before the call",
                   "%d members have failed, and not all members have acknowledged them", failures_));
}

class FaultTolerantBarrier final : public Recovery {
  public:
    using Recovery::Recovery;

  private:
    void begin() override { agree_on({}); }
    void on_decision() override { end(Err::success); }
};

} // namespace

Err comm_agree(Comm& comm, int& flag) { return AgreeCall(comm, flag).run(); }

Err comm_iagree(Comm& comm, int& flag, Request*& request) {
    std::unique_ptr<Recovery> call(new (std::nothrow) AgreeCall(comm, flag));
    return call != nullptr ? start_recovery(comm, std::move(call), request) : request_alloc_error();
}

Err fault_tolerant_barrier(Comm& comm) { return FaultTolerantBarrier(comm).run(); }

} // namespace zipmpi::core
