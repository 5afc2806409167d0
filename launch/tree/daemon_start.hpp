// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The start of one child daemon by a launch agent. A host that does not answer yet is tried again for a
// limited time; a daemon that is not at its path is searched in PATH of its host (docs/decisions/0071).
#pragma once

#include "launch/tree/agent.hpp"
#include "launch/tree/bootstrap.hpp"

namespace zipmpi::launch {

// Path of the zipmpi-noded of this installation.
std::string daemon_path();

class DaemonStart {
  public:
    DaemonStart() = default;
    DaemonStart(const LaunchTree& plan, const Bootstrap& data);
    DaemonStart(DaemonStart&&) = default;
    DaemonStart& operator=(DaemonStart&&) = default;
    ~DaemonStart() { finish(); }

    bool start(Agent& out, Diagnostic& why);
    enum class Next {
        fail,
        retry,         // start() is due at retry_time()
        first_to_retry // and the user is to be informed
    };
    // The agent has exited with this wait status before the daemon connected. output: its standard error.
    Next on_agent_exit(int status, std::string_view output, uint64_t now_ns);
    [[nodiscard]] uint64_t retry_time() const { return retry_at_; } // 0: not waiting
    void finish();                                                  // no further start; wipes the secret

  private:
    std::string host_;
    std::vector<std::string> command_; // the last word is the daemon
    std::string input_;                // encoded bootstrap data with the secret of the job
    uint64_t retry_at_ = 0, retry_until_ = 0;
};

} // namespace zipmpi::launch
