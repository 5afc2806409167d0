// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Receives the active messages of a window with one tag, from any source, one after the other.
//
// Threads: under the lock of the progress engine.
#pragma once

#include "proto/progress/progress_task.hpp"
#include "proto/team.hpp"

#include <cstddef>
#include <vector>

namespace zipmpi::proto::rma {

// Handles the messages of one tag; drops invalid ones.
class AmHandler {
  public:
    virtual void on_message(int from, const std::byte* message, size_t bytes) = 0;

  protected:
    ~AmHandler() = default;
};

class AmReceiver {
  public:
    AmReceiver(const Team& team, int tag, AmHandler& handler);
    ~AmReceiver();
    AmReceiver(const AmReceiver&) = delete;
    AmReceiver& operator=(const AmReceiver&) = delete;

  private:
    struct Receive : Operation {
        AmReceiver* owner = nullptr;
    };
    // The completion callback must not start another operation on the same context, so a task handles the
    // message.
    struct HandleTask : DeferredTask {
        AmReceiver* owner = nullptr;
    };
    void post();
    void handle();

    ProgressEngine& engine_;
    AmHandler& handler_;
    Receive operation_;
    HandleTask task_;
    std::vector<std::byte> buffer_;
};

} // namespace zipmpi::proto::rma
