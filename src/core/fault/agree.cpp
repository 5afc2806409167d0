// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPIX_Comm_agree: first all agree on flags and on who has failed, then on whether everybody has acknowledged
// those failures. Without failures the first is enough.
#include "core/fault/fault.hpp"
#include "core/fault/recovery.hpp"
#include "core/p2p.hpp"

#include <algorithm>
#include <new>

namespace zipmpi::core {
namespace {

class Agreeing final : public Recovery {
  public:
    Agreeing(Comm& comm, int& flag)
        : Recovery(comm)
        , flag_(flag)
        , acknowledged_(comm.failed.begin(),
                        comm.failed.begin() + static_cast<ptrdiff_t>(comm.acknowledged)) {}

  private:
    void begin() override { agree_on({static_cast<uint32_t>(flag_), 0}); }
    void decided() override;
    [[nodiscard]] bool knows_all_failed() const;

    int& flag_;
    std::vector<int> acknowledged_; // before the call
    int failures_ = -1;             // not known yet
};

bool Agreeing::knows_all_failed() const {
    for (size_t p = 0; p < agreement().failed().size(); ++p)
        if (agreement().failed()[p] && std::ranges::count(acknowledged_, agreement().members()[p]) == 0)
            return false;
    return true;
}

void Agreeing::decided() {
    if (failures_ < 0) {
        flag_ = static_cast<int>(agreement().word().flags);
        failures_ = static_cast<int>(std::ranges::count(agreement().failed(), true));
        return failures_ == 0 ? end(Err::success) : agree_on({~0U, knows_all_failed() ? 0U : 1U});
    }
    end(agreement().word().value == 0
            ? Err::success
            : fail(Err::proc_failed, "acknowledge failures with MPIX_Comm_ack_failed before the call",
                   "%d members have failed, and not all members have acknowledged that", failures_));
}

class Meeting final : public Recovery {
  public:
    using Recovery::Recovery;

  private:
    void begin() override { agree_on({}); }
    void decided() override { end(Err::success); }
};

} // namespace

Err comm_agree(Comm& comm, int& flag) { return Agreeing(comm, flag).run(); }

Err comm_iagree(Comm& comm, int& flag, Request*& request) {
    std::unique_ptr<Recovery> call(new (std::nothrow) Agreeing(comm, flag));
    return call != nullptr ? start_recovery(comm, std::move(call), request) : no_request();
}

Err meet_the_living(Comm& comm) { return Meeting(comm).run(); }

} // namespace zipmpi::core
