// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/hang.hpp"

#include "launch/report/verdict.hpp"
#include "launch/report/wording.hpp"

#include <algorithm>
#include <map>

namespace zipmpi::launch {

// "mpiexec: what" is the verdict; the places of all ranks follow, equal places on one line.
std::string hang_report(const Snapshot& s) {
    const bool stuck = std::any_of(s.begin(), s.end(),
                                   [](const RankPlace& p) { return p.life == Life::running && p.asleep; });
    std::string text = stuck ? "mpiexec: who waits for whom\n" : "mpiexec: where the ranks are\n";
    for (const std::string& line : verdict(s)) text += "  " + line + "\n";
    std::vector<std::pair<std::string, std::vector<int>>> groups; // in order of the first rank
    std::map<std::string, size_t> index;
    for (const RankPlace& p : s) {
        const auto [it, added] = index.emplace(place_text(p), groups.size());
        if (added) groups.emplace_back(it->first, std::vector<int>());
        groups[it->second].second.push_back(p.rank);
    }
    for (const auto& [place, ranks] : groups) text += "  " + ranks_text(ranks) + ": " + place + "\n";
    return text;
}

} // namespace zipmpi::launch
