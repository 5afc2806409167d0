// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The process table for parallel debuggers: the symbols MPIR_* of the MPIR Process Acquisition Interface. A
// debugger that starts mpiexec sets MPIR_being_debugged and stops in MPIR_Breakpoint(), when the table is
// complete; one that attaches to a running mpiexec reads the table.
#pragma once

#include "launch/protocol/messages.hpp"

#include <map>

namespace zipmpi::launch {

// A debugger controls this mpiexec: the ranks wait in MPI_Init until it has seen the table.
bool is_debugged();

class ProcessTable {
  public:
    explicit ProcessTable(const StartRequest& request)
        : request_(request) {}

    // Pids of the ranks of one node. True: the table is complete, the debugger has seen it.
    bool on_pids(std::string_view payload);

  private:
    void publish();

    const StartRequest& request_;
    std::map<uint32_t, std::vector<uint32_t>> pids_; // by node
    std::map<uint32_t, std::string> hosts_;
    size_t known_ = 0; // ranks
};

} // namespace zipmpi::launch
