// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Members of a communicator as an agreement counts them: by position, in an order identical on all processes,
// and divided into the jobs they belong to.
#pragma once

#include "core/comm/comm.hpp"

#include <cstddef>
#include <vector>

namespace zipmpi::core {

class AgreementMembers {
  public:
    explicit AgreementMembers(const Comm& comm);

    // World ranks: by rank in the communicator, or one group after the other.
    [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
    [[nodiscard]] int rank_at(int position) const { return ranks_[static_cast<size_t>(position)]; }
    [[nodiscard]] int own_position() const { return own_position_; } // position of this process
    [[nodiscard]] int first_group() const { return first_group_; }   // size of the first group

    // The positions of each job with members, in an order identical on all processes.
    [[nodiscard]] const std::vector<std::vector<int>>& jobs() const { return jobs_; }
    [[nodiscard]] size_t own_job() const { return job_of(own_position_); }
    [[nodiscard]] size_t job_of(int position) const { return job_of_[static_cast<size_t>(position)]; }
    [[nodiscard]] const std::vector<int>& own_job_positions() const { return jobs_[own_job()]; }

  private:
    void find_jobs();

    std::vector<int> ranks_;
    int own_position_ = 0;
    int first_group_ = 0;
    std::vector<std::vector<int>> jobs_;
    std::vector<size_t> job_of_; // by position
};

} // namespace zipmpi::core
