// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/hang_diagnosis.hpp"

#include "launch/report/report_text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace zipmpi::launch {
namespace {

using Lines = std::vector<std::string>;
constexpr const char* world = "MPI_COMM_WORLD";

// The first wait of a rank blocked in MPI that satisfies the condition; null if none.
template <class Holds>
const PendingOp* first_wait(const RankSnapshot& p, const Holds& holds) {
    if (!is_blocked_in_mpi(p)) return nullptr;
    const auto found = std::find_if(p.waits.begin(), p.waits.end(), holds);
    return found != p.waits.end() ? &*found : nullptr;
}

// A wait for all members of a communicator outside a collective: an agreement.
const PendingOp* agreement_wait(const RankSnapshot& p) {
    return first_wait(p, [](const PendingOp& w) { return w.kind == WaitKind::other && !w.comm.empty(); });
}

const PendingOp* collective_wait(const RankSnapshot& p) {
    return first_wait(p, [](const PendingOp& w) { return w.kind == WaitKind::collective; });
}

// Wait-for graph of the ranks, with their state.
class WaitGraph {
  public:
    explicit WaitGraph(const Snapshot& s)
        : snapshot(s) {
        for (const RankSnapshot& p : s) by_rank_[p.rank] = &p;
        for (const RankSnapshot& p : s) {
            if (!is_blocked_in_mpi(p)) continue;
            for (const PendingOp& w : p.waits) add_edges(p, w);
        }
    }
    [[nodiscard]] const RankSnapshot* at(int rank) const {
        const auto it = by_rank_.find(rank);
        return it == by_rank_.end() ? nullptr : it->second;
    }
    [[nodiscard]] std::vector<int> waiters_for(int rank) const {
        std::vector<int> who;
        for (const auto& [from, to] : edges_)
            if (to.count(rank) != 0) who.push_back(from);
        return who;
    }
    [[nodiscard]] std::vector<int> cycle() const;

    const Snapshot& snapshot;

  private:
    void add_edges(const RankSnapshot& p, const PendingOp& w) {
        if (w.kind == WaitKind::send || w.kind == WaitKind::recv) {
            if (w.world_peer >= 0) {
                edges_[p.rank].insert(w.world_peer);
                direct_[p.rank].insert(w.world_peer);
            }
        } else if (w.kind == WaitKind::collective && w.comm != world) { // its members are not available here
            if (w.world_peer >= 0) edges_[p.rank].insert(w.world_peer);
        } else if (w.kind == WaitKind::collective) {
            for (const RankSnapshot& q : snapshot) {
                const PendingOp* other = collective_wait(q);
                if (other == nullptr || other->comm != w.comm || other->sequence < w.sequence)
                    if (q.rank != p.rank) edges_[p.rank].insert(q.rank);
            }
        } else if (w.kind == WaitKind::other && w.comm == world) {
            for (const RankSnapshot& q : snapshot) {
                const PendingOp* other = agreement_wait(q);
                if (other == nullptr || other->comm != w.comm) edges_[p.rank].insert(q.rank);
            }
        }
    }
    std::map<int, const RankSnapshot*> by_rank_;
    std::map<int, std::set<int>> edges_, direct_; // direct: sends and receives only
};

// Follows each rank's first direct wait until a rank repeats.
std::vector<int> WaitGraph::cycle() const {
    for (const auto& [start, ignored] : direct_) {
        std::vector<int> path;
        int rank = start;
        while (true) {
            const auto seen = std::find(path.begin(), path.end(), rank);
            if (seen != path.end()) return {seen, path.end()};
            path.push_back(rank);
            const auto next = direct_.find(rank);
            if (next == direct_.end()) break;
            rank = *next->second.begin();
        }
    }
    return {};
}

// Lines about ranks that are not blocked, but that other ranks wait for.
Lines describe_waited_for(const WaitGraph& graph, bool (*chosen)(const RankSnapshot&)) {
    Lines lines;
    std::map<std::pair<std::string, std::vector<int>>, std::vector<const RankSnapshot*>>
        found; // (state, waiters) -> ranks
    for (const RankSnapshot& p : graph.snapshot) {
        if (is_blocked_in_mpi(p) || !chosen(p)) continue;
        const auto waiters = graph.waiters_for(p.rank);
        if (!waiters.empty()) found[{state_text(p), waiters}].push_back(&p);
    }
    for (const auto& [key, ranks_waited_for] : found) {
        std::vector<int> ranks;
        for (const RankSnapshot* p : ranks_waited_for) ranks.push_back(p->rank);
        lines.push_back(ranks_text(key.second) + (key.second.size() == 1 ? " waits for " : " wait for ") +
                        ranks_text(ranks) + ", which " +
                        state_text(*ranks_waited_for[0], ranks_waited_for.size() > 1));
    }
    return lines;
}

bool may_still_arrive(const RankSnapshot& p) {
    return p.phase == RankPhase::running || p.phase == RankPhase::no_mpi;
}

HangDiagnosis find_busy_peers(const WaitGraph& graph) {
    return {describe_waited_for(graph, may_still_arrive),
            "wait if these ranks will call MPI soon; otherwise inspect them with a debugger"};
}

HangDiagnosis find_exited_peers(const WaitGraph& graph) {
    return {
        describe_waited_for(graph, [](const RankSnapshot& p) { return !may_still_arrive(p); }),
        "every message needs both sides: let these ranks communicate before they exit, or do not wait for "
        "them"};
}

// Unexpected messages that almost match a receive.
Lines find_near_misses(const WaitGraph& graph) {
    Lines lines;
    for (const RankSnapshot& p : graph.snapshot) {
        if (!is_blocked_in_mpi(p) || p.waits.empty() || p.near_miss.world_source == recorder_none) continue;
        const PendingOp& w = p.waits[0];
        const std::string from = "rank " + std::to_string(p.near_miss.world_source);
        const std::string source = w.world_peer == recorder_any ? "any rank" : from;
        const std::string who = "rank " + std::to_string(p.rank) + " receives ";
        if (p.near_miss.comm != w.comm)
            lines.push_back("communicator mismatch: " + who + "from " + source + " on " + w.comm +
                            ", but the unexpected message from " + from + " is on " + p.near_miss.comm);
        else
            lines.push_back("tag mismatch: " + who + "tag " + std::to_string(w.tag) + " from " + source +
                            ", but the unexpected message from " + from + " has tag " +
                            std::to_string(p.near_miss.tag));
    }
    return lines;
}

// A receive and a send between two ranks that do not match.
HangDiagnosis find_mismatched_messages(const WaitGraph& graph) {
    Lines lines = find_near_misses(graph);
    for (const RankSnapshot& receiver : graph.snapshot) {
        if (!is_blocked_in_mpi(receiver)) continue;
        for (const PendingOp& r : receiver.waits) {
            const RankSnapshot* sender = r.kind == WaitKind::recv ? graph.at(r.world_peer) : nullptr;
            if (sender == nullptr || !is_blocked_in_mpi(*sender)) continue;
            for (const PendingOp& w : sender->waits) {
                if (w.kind != WaitKind::send || w.world_peer != receiver.rank) continue;
                const std::string who = "rank " + std::to_string(receiver.rank) + " receives ";
                const std::string other = ", but rank " + std::to_string(sender->rank) + " sends ";
                if (w.comm != r.comm)
                    lines.push_back("communicator mismatch: " + who + "on " + r.comm + other + "on " +
                                    w.comm);
                else if (r.tag != recorder_any && w.tag != r.tag)
                    lines.push_back("tag mismatch: " + who + "tag " + std::to_string(r.tag) + other + "tag " +
                                    std::to_string(w.tag));
            }
        }
    }
    return {lines, "use the same tag and communicator on both sides, or MPI_ANY_TAG"};
}

using Groups = std::map<std::string, std::vector<int>>;

std::string join(const Groups& groups) {
    std::string text;
    for (const auto& [state, ranks] : groups)
        text += (text.empty() ? "" : "; ") + ranks_text(ranks) +
                (ranks.size() == 1 ? " is in " : " are in ") + state;
    return text;
}

// All in collectives, but not in the same one. Ranks that are behind show the error, if they differ.
HangDiagnosis find_mismatched_collectives(const WaitGraph& graph) {
    constexpr const char* fix = "let all ranks of a communicator call the same collectives in the same order";
    Groups comms, sequences, functions, roots;
    std::set<std::string> communicators;
    std::map<uint32_t, std::vector<const RankSnapshot*>> by_sequence;
    for (const RankSnapshot& p : graph.snapshot) {
        const PendingOp* w = collective_wait(p);
        if (w == nullptr) continue;
        comms[p.function + " on " + w->comm].push_back(p.rank);
        sequences["the " + ordinal(w->sequence) + " collective on " + w->comm].push_back(p.rank);
        communicators.insert(w->comm);
        by_sequence[w->sequence].push_back(&p);
    }
    if (communicators.empty()) return {};
    if (communicators.size() > 1) return {{"collectives on different communicators: " + join(comms)}, fix};
    std::set<int> named_roots;
    for (const RankSnapshot* p : by_sequence.begin()->second) {
        functions[p->function].push_back(p->rank);
        roots[p->function + " with root " + std::to_string(p->peer)].push_back(p->rank);
        if (p->peer != recorder_none) named_roots.insert(p->peer);
    }
    const std::string same =
        "the " + ordinal(by_sequence.begin()->first) + " collective on " + *communicators.begin();
    if (functions.size() > 1) return {{"different functions as " + same + ": " + join(functions)}, fix};
    if (named_roots.size() > 1)
        return {{"different roots in " + same + ": " + join(roots)}, "pass the same root on all ranks"};
    if (by_sequence.size() > 1) return {{"some ranks are ahead of others: " + join(sequences)}, fix};
    return {};
}

HangDiagnosis find_wait_cycle(const WaitGraph& graph) {
    std::vector<int> ring = graph.cycle();
    if (ring.empty()) return {};
    std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
    std::string text = "deadlock: ";
    bool all_send = true;
    bool all_receive = true;
    for (const int r : ring) {
        text += std::to_string(r) + " \u2192 ";
        for (const PendingOp& w : graph.at(r)->waits) {
            all_send = all_send && w.kind == WaitKind::send;
            all_receive = all_receive && w.kind == WaitKind::recv;
        }
    }
    text += std::to_string(ring.front());
    if (all_send)
        return {{text + "; each of these ranks blocks in a send, and none has posted the receive"},
                "use MPI_Sendrecv, or post receives with MPI_Irecv before sending"};
    if (all_receive)
        return {{text + "; each of these ranks blocks in a receive, and none sends"},
                "let one of them send first, or use MPI_Sendrecv"};
    return {{text}, "change the order of the calls on one of these ranks"};
}

// The communicator with most ranks in a collective or in an agreement, and these ranks.
std::vector<const RankSnapshot*> largest_collective(const WaitGraph& graph) {
    std::map<std::pair<std::string, WaitKind>, std::vector<const RankSnapshot*>> by_comm;
    for (const RankSnapshot& p : graph.snapshot)
        for (const PendingOp* w : {collective_wait(p), agreement_wait(p)})
            if (w != nullptr) by_comm[{w->comm, w->kind}].push_back(&p);
    std::vector<const RankSnapshot*> largest;
    for (const auto& [comm, ranks] : by_comm)
        if (ranks.size() > largest.size()) largest = ranks;
    return largest;
}

// Some ranks in a collective, others that they wait for elsewhere.
HangDiagnosis find_missing_participants(const WaitGraph& graph) {
    const auto participants = largest_collective(graph);
    std::vector<int> inside;
    inside.reserve(participants.size());
    for (const RankSnapshot* p : participants) inside.push_back(p->rank);
    std::map<std::string, std::vector<int>> outside;
    size_t missing = 0;
    for (const RankSnapshot& p : graph.snapshot) {
        if (!is_blocked_in_mpi(p) || std::find(inside.begin(), inside.end(), p.rank) != inside.end())
            continue;
        const auto waiters = graph.waiters_for(p.rank);
        if (std::none_of(waiters.begin(), waiters.end(),
                         [&](int r) { return std::find(inside.begin(), inside.end(), r) != inside.end(); }))
            continue;
        outside[state_text(p)].push_back(p.rank);
        ++missing;
    }
    if (outside.empty()) return {};
    const auto mismatch = [&](const std::vector<int>& majority, const std::vector<int>& minority) {
        return "collective mismatch: " + ranks_text(majority) +
               (majority.size() == 1 ? " waits in " : " wait in ") + graph.at(majority[0])->function + ", " +
               ranks_text(minority) + " " + state_text(*graph.at(minority[0]), minority.size() > 1);
    };
    constexpr const char* fix = "let every rank of the communicator call the collective, or none";
    if (inside.size() < missing && outside.size() == 1)
        return {{mismatch(outside.begin()->second, inside)}, fix};
    HangDiagnosis v{{}, fix};
    for (const auto& [state, ranks] : outside) v.lines.push_back(mismatch(inside, ranks));
    return v;
}

HangDiagnosis find_unmatched_wildcards(const WaitGraph& graph) {
    std::vector<int> waiting;
    for (const RankSnapshot& p : graph.snapshot)
        if (is_blocked_in_mpi(p) && std::any_of(p.waits.begin(), p.waits.end(), [](const PendingOp& w) {
                return w.kind == WaitKind::recv && w.world_peer == recorder_any;
            }))
            waiting.push_back(p.rank);
    if (waiting.empty()) return {};
    return {{ranks_text(waiting) + (waiting.size() == 1 ? " waits" : " wait") +
             " for a message from any rank, but no rank sends one"},
            "add the missing send, or remove the receive"};
}

} // namespace

HangDiagnosis diagnose_hang(const Snapshot& s) {
    const bool stuck = std::any_of(s.begin(), s.end(), is_blocked_in_mpi);
    if (!stuck) return {};
    const WaitGraph graph(s);
    for (const auto check :
         {find_busy_peers, find_mismatched_messages, find_exited_peers, find_mismatched_collectives,
          find_wait_cycle, find_missing_participants, find_unmatched_wildcards})
        if (HangDiagnosis v = check(graph); !v.lines.empty()) return v;
    return {{"no single cause found; state of all ranks:"}, "follow the waits from rank to rank"};
}

} // namespace zipmpi::launch
