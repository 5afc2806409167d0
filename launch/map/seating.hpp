// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The CPUs of the ranks of one host among other jobs: places them on cores that no other job has, claims
// those, and gives lent ones up when another job needs them.
#pragma once

#include "launch/map/claims.hpp"
#include "launch/map/placement.hpp"

#include <functional>

namespace zipmpi::launch {

class Seating {
  public:
    // place(), or another one of its kind.
    using Place = std::function<bool(const PlacementRequest&, const HostCores&, Placement&, Problem&)>;

    // Without it every core counts as free.
    void use(const std::string& claims_path, uint64_t job) { claims_.open(claims_path, job); }

    // Ranks of this job that share the cores with ours because their hosts share our kernel.
    struct Part {
        uint32_t first = 0; // of our ranks among all of them
        uint32_t all = 0;   // 0: ours are all there are
    };
    // busy: CPUs on which others work. False: the policy cannot be met.
    bool choose(const PlacementRequest& request, const HostCores& cores, const CpuList& busy,
                const Place& place, Part part, Problem& why);

    [[nodiscard]] const std::vector<Seat>& seats() const { return now_; }
    [[nodiscard]] const std::string& why() const { return why_; }
    [[nodiscard]] bool lends() const; // some seat is wider than what is its own
    // Ranks that are left to the kernel stay within these CPUs.
    void keep_within(const CpuList& cpus);
    // Takes what is lent for its own, for ranks that will be moved. Returns the cores of the job: without a
    // seat that is wider than others allow, all of them that no other job has.
    HostCores keep_all(const HostCores& cores);

    CpuClaims& claims() { return claims_; }
    // Others have come or gone: what is lent changes. Returns the seats that have changed.
    CoreNumbers settle();

  private:
    bool choose_now(const PlacementRequest& request, const HostCores& cores, const CpuList& busy,
                    const Place& place, Part part, Problem& why);
    // must: nobody else may have what is our own. Returns a CPU that somebody has; -1: none.
    int claim(const CpuClaims::Others& others, bool must);

    CpuClaims claims_;
    std::vector<Seat> wanted_, now_;
    std::string why_;
    bool shared_ = false; // seats are shares: what is not their own is lent
    CpuList taken_;       // by others, at the time of the choice
};

// One line of --report-bindings: "rank 3 on host n1: CPUs 0-3: its share of 8 cores".
std::string binding_line(uint32_t rank, const std::string& host, const Seat& seat, const std::string& why);

} // namespace zipmpi::launch
