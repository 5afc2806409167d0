// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/report_text.hpp"

#include "launch/placement/rank_ranges.hpp"

namespace zipmpi::launch {

std::string rank_list(const std::vector<int>& ranks) {
    RankRanges ranges;
    for (const int rank : ranks) ranges.add(static_cast<uint32_t>(rank));
    return ranges.text();
}

std::string ranks_text(const std::vector<int>& ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks);
}

std::string call_text(const RankSnapshot& p) {
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

namespace {

std::string tag_text(int32_t tag) {
    if (tag == recorder_none) return {};
    return tag == recorder_any ? ", any tag" : ", tag " + std::to_string(tag);
}

std::string pending_op_text(const PendingOp& w) {
    const std::string peer =
        w.world_peer == recorder_any ? "any rank" : "rank " + std::to_string(w.world_peer);
    const std::string comm = w.comm.empty() ? "" : " on " + w.comm;
    switch (w.kind) {
    case WaitKind::send:
        return "to send " + std::to_string(w.bytes) + " bytes to " + peer + tag_text(w.tag) + comm;
    case WaitKind::recv:
        return "for a message from " + peer + tag_text(w.tag) + comm;
    case WaitKind::collective:
        return "(the " + ordinal(w.sequence) + " collective" + comm + ")";
    default:
        return w.comm.empty() ? "for an internal operation of the library" : "for the other ranks" + comm;
    }
}

} // namespace

std::string state_text(const RankSnapshot& p, bool several) {
    const std::string has = several ? "have " : "has ";
    const std::string is = several ? "are in " : "is in ";
    switch (p.phase) {
    case RankPhase::no_mpi:
        return has + "not called MPI_Init";
    case RankPhase::finalized:
        return has + "called MPI_Finalize";
    case RankPhase::exited:
        return has + "ended (" + p.exit_reason + ")";
    default:
        break;
    }
    if (p.function.empty()) return is + "user code, outside MPI";
    if (!p.asleep) return is + call_text(p) + ", running";
    constexpr size_t most = 4;
    std::string text = (several ? "wait in " : "waits in ") + p.function;
    for (size_t i = 0; i < p.waits.size() && i < most; ++i)
        text += (i == 0 ? " " : ", and ") + pending_op_text(p.waits[i]);
    if (p.wait_count > most) text += ", and " + std::to_string(p.wait_count - most) + " more";
    return text;
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
