// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where `zipmpi top` gets the state of a job: from the memory of this host, or from mpiexec, which asks all
// hosts.
#pragma once

#include "json.hpp"
#include "launch/report/counter_totals.hpp"
#include "launch/report/snapshot.hpp"
#include "segment/node_segment.hpp"

#include <string>
#include <vector>

namespace zipmpi::tool {

// Ranks in ascending order.
struct JobSample {
    launch::Snapshot ranks;
    std::vector<launch::CounterTotals> totals;
    std::vector<std::string> hosts; // empty: all are on this host
};

class JobSource {
  public:
    JobSource() = default;
    JobSource(const JobSource&) = delete;
    JobSource& operator=(const JobSource&) = delete;
    virtual ~JobSource() = default;
    [[nodiscard]] virtual const std::string& id() const = 0;
    // False if the job has ended.
    virtual bool sample(JobSample& out) = 0;
    // Of the last sample, for the title: "node 0 of 2", "2 hosts"; may be empty.
    [[nodiscard]] virtual std::string extent() const = 0;
    [[nodiscard]] virtual Json facts() const = 0; // about the job, without ranks
    // Memory of the ranks, if they are on this host; otherwise null.
    [[nodiscard]] virtual const segment::NodeSegment* segment() const { return nullptr; }
};

} // namespace zipmpi::tool
