// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/wording.hpp"

namespace zipmpi::launch {

std::string rank_list(const std::vector<int>& ranks) {
    std::string s;
    for (size_t i = 0; i < ranks.size();) {
        size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        s += (s.empty() ? "" : ",") + std::to_string(ranks[i]);
        if (last > i) s += "-" + std::to_string(ranks[last]);
        i = last + 1;
    }
    return s;
}

std::string ranks_text(const std::vector<int>& ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks);
}

std::string call_text(const RankPlace& p) {
    std::string detail;
    const auto add = [&](const std::string& part) { detail += (detail.empty() ? "" : ", ") + part; };
    if (p.peer == recorder_any)
        add("any peer");
    else if (p.peer != recorder_none)
        add("peer " + std::to_string(p.peer));
    if (p.tag == recorder_any)
        add("any tag");
    else if (p.tag != recorder_none)
        add("tag " + std::to_string(p.tag));
    if (!p.comm.empty()) add(p.comm);
    return p.function + (detail.empty() ? "" : " (" + detail + ")");
}

std::string ordinal(uint32_t n) {
    const uint32_t tens = n % 100;
    const char* end = tens >= 11 && tens <= 13 ? "th"
                      : n % 10 == 1            ? "st"
                      : n % 10 == 2            ? "nd"
                      : n % 10 == 3            ? "rd"
                                               : "th";
    return std::to_string(n) + end;
}

} // namespace zipmpi::launch
