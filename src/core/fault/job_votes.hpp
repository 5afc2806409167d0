// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What an agreement knows: the votes of the jobs and the failed members. A message carries all of it, so that
// a job learns the votes of others from any of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zipmpi::core {

// The contribution of one member, or of several combined.
struct Vote {
    uint32_t flags = ~0U;
    uint32_t value = 0;
    void add(const Vote& other) {
        flags &= other.flags;
        value = std::max(value, other.value);
    }
};

class JobVotes {
  public:
    // jobs: the positions of the members of each job; it outlives this object.
    JobVotes(const std::vector<std::vector<int>>& jobs, size_t members);

    void clear();
    void set_vote(size_t job, const Vote& vote) { votes_[job] = {1U, vote}; }
    void set_failed(int position) { failed_[static_cast<size_t>(position)] = true; }
    [[nodiscard]] const std::vector<bool>& failed() const { return failed_; } // by position

    [[nodiscard]] std::string pack() const;
    // Adds the votes of jobs that were not known, and the failed members of these jobs.
    void add(const std::string& message);

    // Combines the votes. All members of a job without a vote count as failed.
    [[nodiscard]] Vote conclude();

  private:
    struct Entry { // as sent
        uint32_t has_vote = 0;
        Vote vote;
    };
    static_assert(sizeof(Entry) == 12);

    const std::vector<std::vector<int>>& jobs_;
    std::vector<Entry> votes_; // by job
    std::vector<bool> failed_;
};

} // namespace zipmpi::core
