// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/hang.hpp"

#include "launch/report/hang_diagnosis.hpp"
#include "launch/report/report_text.hpp"

#include <cstdio>
#include <map>

namespace zipmpi::launch {

// The first line is the diagnosis; the state of all ranks follows, equal states on one line.
std::string hang_report(const Snapshot& s, double idle_seconds) {
    const HangDiagnosis v = diagnose_hang(s);
    std::string text = "mpiexec: ";
    if (idle_seconds > 0) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g s", idle_seconds);
        text += std::string("no progress for ") + seconds + ": ";
    }
    text += v.lines.empty() ? "no rank is blocked in MPI; state of all ranks:\n" : v.lines[0] + "\n";
    for (size_t i = 1; i < v.lines.size(); ++i) text += "  also: " + v.lines[i] + "\n";
    std::vector<std::pair<const RankSnapshot*, std::vector<int>>> groups; // in order of the first rank
    std::map<std::string, size_t> index;
    for (const RankSnapshot& p : s) {
        const auto [it, added] = index.emplace(state_text(p), groups.size());
        if (added) groups.emplace_back(&p, std::vector<int>());
        groups[it->second].second.push_back(p.rank);
    }
    for (const auto& [state, ranks] : groups)
        text += "  " + ranks_text(ranks) + ": " + state_text(*state, ranks.size() > 1) + "\n";
    if (!v.fix.empty()) text += "  fix: " + v.fix + "\n";
    return text;
}

} // namespace zipmpi::launch
