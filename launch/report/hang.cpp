// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/hang.hpp"

#include "launch/report/verdict.hpp"
#include "launch/report/wording.hpp"

#include <cstdio>
#include <map>

namespace zipmpi::launch {

// The first line is the verdict; the places of all ranks follow, equal places on one line.
std::string hang_report(const Snapshot& s, double still_seconds) {
    const Verdict v = verdict(s);
    std::string text = "mpiexec: ";
    if (still_seconds > 0) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g s", still_seconds);
        text += std::string("nothing has moved for ") + seconds + ": ";
    }
    text += v.lines.empty() ? "no rank waits inside MPI; this is where the ranks are\n" : v.lines[0] + "\n";
    for (size_t i = 1; i < v.lines.size(); ++i) text += "  also: " + v.lines[i] + "\n";
    std::vector<std::pair<const RankPlace*, std::vector<int>>> groups; // in order of the first rank
    std::map<std::string, size_t> index;
    for (const RankPlace& p : s) {
        const auto [it, added] = index.emplace(place_text(p), groups.size());
        if (added) groups.emplace_back(&p, std::vector<int>());
        groups[it->second].second.push_back(p.rank);
    }
    for (const auto& [place, ranks] : groups)
        text += "  " + ranks_text(ranks) + ": " + place_text(*place, ranks.size() > 1) + "\n";
    if (!v.todo.empty()) text += "  do: " + v.todo + "\n";
    return text;
}

} // namespace zipmpi::launch
