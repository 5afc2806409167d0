// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The CPUs of the ranks on this host: reads the machine and its load, and calls launch/placement.
#pragma once

#include "launch/placement/busy_cpus.hpp"
#include "launch/placement/cpu_allocator.hpp"
#include "launch/protocol/messages.hpp"

namespace zipmpi::launch {

class HostPlacement {
  public:
    // Called early: takes the first reading of the load. The request must outlive this object.
    void begin(const StartRequest& request, uint32_t node);
    // Returns false if the requested placement is not possible on this host.
    bool choose(Diagnostic& why);
    // Restricts the ranks to their share of the cores when other nodes of the job are on this machine.
    bool choose_share(CpuAllocator::Share share, Diagnostic& why);

    [[nodiscard]] const std::vector<RankCpus>& rank_cpus() const { return allocator_.rank_cpus(); }
    [[nodiscard]] std::vector<std::string> report(const std::string& host) const; // one line per rank
    [[nodiscard]] const hwtopo::Machine& machine() const {
        return machine_;
    } // without CPUs if it was not read
    [[nodiscard]] const HostCores& cores() const { return cores_; }
    // Cores for the rebinder, which claims all of them.
    HostCores claim_all_cores();

    [[nodiscard]] CpuList usable_cpus() const; // of this daemon, or --cpu-set
    // Ranks of other jobs that share these CPUs; few more than CPUs if they are many.
    [[nodiscard]] uint32_t other_ranks() const;

    void release_claims() { allocator_.claims().close(); } // all ranks have exited

    int watch_fd() { return allocator_.claims().watch_fd(); }
    bool has_changed() { return allocator_.claims().has_changed(); }
    CoreIndices update_lent() { return allocator_.update_lent(); }

  private:
    bool place_ranks(const PlacementRequest& request, const HostCores& cores, Placement& out,
                     Diagnostic& why);
    bool read_cores(Diagnostic& why);

    const StartRequest* job_ = nullptr;
    std::vector<uint32_t> ranks_; // of this host
    PlacementRequest request_;
    hwtopo::Machine machine_;
    HostCores cores_;
    BusyCpus busy_;
    CpuAllocator allocator_;
    bool by_traffic_ = false;
};

} // namespace zipmpi::launch
