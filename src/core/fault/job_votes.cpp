// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/fault/job_votes.hpp"

#include <cstring>

namespace zipmpi::core {

JobVotes::JobVotes(const std::vector<std::vector<int>>& jobs, size_t members)
    : jobs_(jobs)
    , votes_(jobs.size())
    , failed_(members, false) {}

void JobVotes::clear() {
    for (Entry& e : votes_) e.has_vote = 0;
    failed_.assign(failed_.size(), false);
}

std::string JobVotes::pack() const {
    const size_t entries = votes_.size() * sizeof(Entry);
    std::string bytes(entries + (failed_.size() + 7) / 8, '\0');
    std::memcpy(bytes.data(), votes_.data(), entries);
    char* const bits = bytes.data() + entries;
    for (size_t p = 0; p < failed_.size(); ++p)
        if (failed_[p]) bits[p / 8] = static_cast<char>(bits[p / 8] | 1 << p % 8);
    return bytes;
}

void JobVotes::add(const std::string& message) {
    const char* const bits = message.data() + votes_.size() * sizeof(Entry);
    for (size_t i = 0; i < votes_.size(); ++i) {
        Entry entry;
        std::memcpy(&entry, message.data() + i * sizeof entry, sizeof entry);
        if (votes_[i].has_vote != 0 || entry.has_vote == 0) continue;
        set_vote(i, entry.vote);
        for (const int p : jobs_[i]) failed_[static_cast<size_t>(p)] = (bits[p / 8] >> p % 8 & 1) != 0;
    }
}

Vote JobVotes::conclude() {
    Vote result;
    for (size_t i = 0; i < votes_.size(); ++i) {
        if (votes_[i].has_vote != 0)
            result.add(votes_[i].vote);
        else
            for (const int p : jobs_[i]) set_failed(p);
    }
    return result;
}

} // namespace zipmpi::core
