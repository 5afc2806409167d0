// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the communicator of a collective buffer has failed: a member has failed or the communicator is
// revoked. Then waits return immediately, and the contents of the buffer are undefined.
#pragma once

#include "proto/p2p/progress_engine.hpp"

namespace zipmpi::proto::coll {

class CommFaults {
  public:
    CommFaults(ProgressEngine& engine, uint32_t context)
        : engine_(engine)
        , context_(context) {}

    [[nodiscard]] bool has_failed() const { return failed_; }
    void mark_failed() { failed_ = true; } // a member is known to have failed
    // Processes fault notifications.
    void check() {
        engine_.faults().poll();
        if (engine_.faults().comm_failure(context_) != Err::success) failed_ = true;
    }
    // The state after notifications that others have processed.
    [[nodiscard]] bool update() {
        if (engine_.faults().any() && !failed_)
            failed_ = engine_.faults().comm_failure(context_) != Err::success;
        return failed_;
    }
    [[gnu::cold]] [[nodiscard]] Err error() const {
        const Err why = engine_.faults().comm_failure(context_);
        return why != Err::success ? why
                                   : fail(Err::proc_failed, "see the output of the launcher for the cause",
                                          "a rank that takes part in this collective has failed");
    }

  private:
    ProgressEngine& engine_;
    uint32_t context_; // of collectives
    bool failed_ = false;
};

} // namespace zipmpi::proto::coll
