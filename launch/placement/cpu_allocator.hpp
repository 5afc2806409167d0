// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Allocates the CPUs of the ranks of one host among other jobs: places the ranks on cores that no other job
// has, claims these, and releases lent cores when another job needs them.
#pragma once

#include "launch/placement/cpu_claims.hpp"
#include "launch/placement/placement.hpp"

#include <functional>

namespace zipmpi::launch {

class CpuAllocator {
  public:
    // assign_cpus(), or a function with the same contract.
    using AssignFunction =
        std::function<bool(const PlacementRequest&, const HostCores&, Placement&, Diagnostic&)>;

    // Without this call every core counts as free.
    void open_claims(const std::string& claims_path, uint64_t job) { claims_.open(claims_path, job); }

    // Ranks of this job on other nodes that share this machine's cores.
    struct Share {
        uint32_t first = 0; // index of the first local rank among all of them
        uint32_t all = 0;   // 0: there are only local ranks
    };
    // busy: CPUs that others keep busy. Returns false if the policy cannot be satisfied.
    bool choose(const PlacementRequest& request, const HostCores& cores, const CpuList& busy,
                const AssignFunction& assign, Share share, Diagnostic& why);

    [[nodiscard]] const std::vector<RankCpus>& rank_cpus() const { return current_; }
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] bool lends_cpus() const; // some rank may use more CPUs than it owns
    // Restricts unbound ranks to these CPUs.
    void confine_unbound(const CpuList& cpus);
    // Claims lent CPUs as owned, for ranks that will be rebound. Returns the cores of the job: all cores that
    // no other job has, unless a rank's CPUs are wider than that.
    HostCores claim_all(const HostCores& cores);

    // Lets other jobs count the ranks that have no CPU of their own. all: CPUs of unbound ranks.
    void announce_ranks(const CpuList& all);

    CpuClaims& claims() { return claims_; }
    [[nodiscard]] const CpuClaims& claims() const { return claims_; }
    // Adapts the lent CPUs to the claims of other jobs. Returns the indices of ranks whose CPUs have changed.
    CoreIndices update_lent();

  private:
    bool choose_locked(const PlacementRequest& request, const HostCores& cores, const CpuList& busy,
                       const AssignFunction& assign, Share share, Diagnostic& why);
    // must: the owned CPUs must be exclusive. Returns a CPU that another job has; -1 if none.
    int claim(const CpuClaims::OtherClaims& others, bool must);

    CpuClaims claims_;
    std::vector<RankCpus> wanted_, current_;
    std::string reason_;
    uint32_t claimed_ = 0; // CPUs
    bool shared_ = false;  // ranks have shares: CPUs beyond the owned ones are lent
    CpuList occupied_;     // by others, when the CPUs were chosen
};

// One line of --report-bindings: "rank 3 on host n1: CPUs 0-3: its share of 8 cores".
std::string binding_line(uint32_t rank, const std::string& host, const RankCpus& assigned,
                         const std::string& why);

} // namespace zipmpi::launch
