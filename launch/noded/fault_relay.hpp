// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Fault events: from local ranks and the daemons below up to mpiexec, and from there into the node segment.
#pragma once

#include "launch/noded/parent_link.hpp"
#include "launch/noded/rank_processes.hpp"
#include "launch/pmi/pmi_message.hpp"
#include "launch/report/agreement_gather.hpp"
#include "launch/tree/subtree.hpp"

#include <deque>
#include <map>

namespace zipmpi::launch {

class FaultRelay {
  public:
    FaultRelay(NodeJob& job, ParentLink& parent, RankProcesses& ranks)
        : job_(job)
        , ranks_(ranks)
        , gather_([this] { return job_.request().map.ranks_of_nodes(job_.range().node, job_.range().end); },
                  [&parent](const JobEvent& e) { parent.send(ControlFrameType::job_event, encode(e)); }) {}

    void on_notify(uint32_t local, const PmiMessage& m); // from a rank
    void on_child_event(const JobEvent& e) { gather_.process(e); }
    void on_event(const JobEvent& e); // from mpiexec
    void report_failed(const Failure& failure);
    void report_failed_nodes(NodeRange nodes, const Diagnostic& why);

  private:
    void publish_agreement(uint32_t local, const segment::AgreementResult& decided);
    void publish_queued_agreements(uint32_t local);

    NodeJob& job_;
    RankProcesses& ranks_;
    AgreementGather gather_;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>
        agreement_waiters_; // waiting ranks by agreement
    std::map<uint32_t, std::deque<segment::AgreementResult>>
        queued_agreements_; // results without a free slot, by rank
};

} // namespace zipmpi::launch
