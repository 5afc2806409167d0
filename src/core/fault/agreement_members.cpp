// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/agreement_members.hpp"

#include "core/dpm/connect.hpp"
#include "core/fault/fault.hpp"
#include "core/runtime_state.hpp"
#include "transport/interjob/interjob_network.hpp"

#include <map>

namespace zipmpi::core {

AgreementMembers::AgreementMembers(const Comm& comm) {
    const proto::Team& own = comm.own_team();
    const bool first = !comm.inter() || precedes(own.map.world(0), comm.team.map.world(0));
    if (!first) add_members(comm.team, ranks_);
    own_position_ = static_cast<int>(ranks_.size()) + own.rank;
    add_members(own, ranks_);
    if (first && comm.inter()) add_members(comm.team, ranks_);
    first_group_ = first ? own.size : comm.team.size;
    find_jobs();
}

void AgreementMembers::find_jobs() {
    std::map<uint64_t, std::vector<int>> by_job;
    const interjob::InterJobNetwork* const network = runtime()->interjob_network;
    for (size_t p = 0; p < ranks_.size(); ++p)
        by_job[network != nullptr ? network->name_of(ranks_[p]).job : 0].push_back(static_cast<int>(p));
    job_of_.resize(ranks_.size());
    for (auto& [number, positions] : by_job) {
        for (const int p : positions) job_of_[static_cast<size_t>(p)] = jobs_.size();
        jobs_.push_back(std::move(positions));
    }
}

} // namespace zipmpi::core
