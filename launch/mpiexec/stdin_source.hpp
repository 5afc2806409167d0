// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sends the standard input of mpiexec to the nodes that have reading ranks, as far as these have consumed
// what was sent before.
#pragma once

#include "launch/mpiexec/stdin_window.hpp"
#include "launch/protocol/messages.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class StdinSource {
  public:
    StdinSource(const StartRequest& request, Subtree& subtree)
        : request_(request)
        , subtree_(subtree) {}

    void begin(); // finds the reading nodes
    [[nodiscard]] bool wants_input() const;
    void on_readable();
    void on_consumed(std::string_view payload); // payload of a frame
    void on_closed(uint32_t node) { window_.on_closed(node); }
    void on_time(uint64_t now);
    [[nodiscard]] uint64_t next_time() const { return retry_at_; }

  private:
    void send(ControlFrameType type, std::string_view bytes);

    const StartRequest& request_;
    Subtree& subtree_;
    StdinWindow window_;
    bool open_ = true;
    uint64_t retry_at_ = 0;
};

} // namespace zipmpi::launch
