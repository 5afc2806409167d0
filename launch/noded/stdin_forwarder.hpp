// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Forwards the standard input of mpiexec to the reading ranks of this node and to the nodes below it.
#pragma once

#include "launch/noded/node_job.hpp"
#include "launch/noded/parent_link.hpp"
#include "launch/noded/rank_input.hpp"
#include "launch/tree/subtree.hpp"

namespace zipmpi::launch {

class StdinForwarder {
  public:
    StdinForwarder(const NodeJob& job, EventLoop& loop, ParentLink& parent, Subtree& subtree);
    [[nodiscard]] bool reads_stdin(uint32_t world_rank) const;
    [[nodiscard]] bool has_ended() const { return input_.ended(); }
    // Creates the pipe of a reading rank. Returns its read end, or an empty descriptor with errno.
    os::Fd open_reader();
    void on_frame(const ControlFrame& f);

  private:
    void feed();

    const NodeJob& job_;
    EventLoop& loop_;
    ParentLink& parent_;
    Subtree& subtree_;
    EventLoop::Source source_;
    RankInput input_;
    bool closed_ = false; // mpiexec has been told that no rank reads
};

} // namespace zipmpi::launch
