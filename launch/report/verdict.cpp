// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/verdict.hpp"

#include "launch/report/wording.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace zipmpi::launch {
namespace {

using Lines = std::vector<std::string>;
constexpr const char* world = "MPI_COMM_WORLD";

// The first wait of a rank that sleeps in MPI for which this holds; null: it has none.
template <class Holds>
const WaitPlace* first_wait(const RankPlace& p, const Holds& holds) {
    if (!waits_in_mpi(p)) return nullptr;
    const auto found = std::find_if(p.waits.begin(), p.waits.end(), holds);
    return found != p.waits.end() ? &*found : nullptr;
}

// It waits for the word of all members of a communicator, which is no collective: an agreement.
const WaitPlace* agreement_wait(const RankPlace& p) {
    return first_wait(p, [](const WaitPlace& w) { return w.kind == WaitKind::other && !w.comm.empty(); });
}

const WaitPlace* collective_wait(const RankPlace& p) {
    return first_wait(p, [](const WaitPlace& w) { return w.kind == WaitKind::collective; });
}

// Who must act before whom, and who is where.
class Picture {
  public:
    explicit Picture(const Snapshot& s)
        : all(s) {
        for (const RankPlace& p : s) by_rank_[p.rank] = &p;
        for (const RankPlace& p : s) {
            if (!waits_in_mpi(p)) continue;
            for (const WaitPlace& w : p.waits) add_edges(p, w);
        }
    }
    [[nodiscard]] const RankPlace* at(int rank) const {
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

    const Snapshot& all;

  private:
    void add_edges(const RankPlace& p, const WaitPlace& w) {
        if (w.kind == WaitKind::send || w.kind == WaitKind::recv) {
            if (w.world_peer >= 0) {
                edges_[p.rank].insert(w.world_peer);
                direct_[p.rank].insert(w.world_peer);
            }
        } else if (w.kind == WaitKind::collective && w.comm != world) { // its members are not known here
            if (w.world_peer >= 0) edges_[p.rank].insert(w.world_peer);
        } else if (w.kind == WaitKind::collective) {
            for (const RankPlace& q : all) {
                const WaitPlace* other = collective_wait(q);
                if (other == nullptr || other->comm != w.comm || other->sequence < w.sequence)
                    if (q.rank != p.rank) edges_[p.rank].insert(q.rank);
            }
        } else if (w.kind == WaitKind::other && w.comm == world) {
            for (const RankPlace& q : all) {
                const WaitPlace* other = agreement_wait(q);
                if (other == nullptr || other->comm != w.comm) edges_[p.rank].insert(q.rank);
            }
        }
    }
    std::map<int, const RankPlace*> by_rank_;
    std::map<int, std::set<int>> edges_, direct_; // direct: sends and receives only
};

// Follows each rank's first direct wait until a rank repeats.
std::vector<int> Picture::cycle() const {
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

// Somebody waits for a rank that does not wait itself.
Lines waits_for(const Picture& picture, bool (*chosen)(const RankPlace&)) {
    Lines lines;
    std::map<std::pair<std::string, std::vector<int>>, std::vector<const RankPlace*>>
        found; // (state, waiters) -> ranks
    for (const RankPlace& p : picture.all) {
        if (waits_in_mpi(p) || !chosen(p)) continue;
        const auto waiters = picture.waiters_for(p.rank);
        if (!waiters.empty()) found[{place_text(p), waiters}].push_back(&p);
    }
    for (const auto& [key, places] : found) {
        std::vector<int> ranks;
        for (const RankPlace* p : places) ranks.push_back(p->rank);
        lines.push_back(ranks_text(key.second) + (key.second.size() == 1 ? " waits for " : " wait for ") +
                        ranks_text(ranks) + ", which " + place_text(*places[0], places.size() > 1));
    }
    return lines;
}

bool may_come(const RankPlace& p) { return p.life == Life::running || p.life == Life::no_mpi; }

Verdict busy_peers(const Picture& picture) {
    return {waits_for(picture, may_come),
            "nothing if they are about to come; otherwise look with a debugger at what they do"};
}

Verdict gone_peers(const Picture& picture) {
    return {waits_for(picture, [](const RankPlace& p) { return !may_come(p); }),
            "every message needs both sides: let these ranks take part before they leave, or do not wait for "
            "them"};
}

// Messages that have come and fit no receive.
Lines strays(const Picture& picture) {
    Lines lines;
    for (const RankPlace& p : picture.all) {
        if (!waits_in_mpi(p) || p.waits.empty() || p.stray.world_source == recorder_none) continue;
        const WaitPlace& w = p.waits[0];
        const std::string from = "rank " + std::to_string(p.stray.world_source);
        const std::string source = w.world_peer == recorder_any ? "any rank" : from;
        const std::string who = "rank " + std::to_string(p.rank) + " wants ";
        if (p.stray.comm != w.comm)
            lines.push_back(who + "a message from " + source + " on " + w.comm + ", but the one from " +
                            from + " that has come is on " + p.stray.comm);
        else
            lines.push_back(who + "tag " + std::to_string(w.tag) + " from " + source +
                            ", but the message from " + from + " that has come has tag " +
                            std::to_string(p.stray.tag));
    }
    return lines;
}

// A receive and a send between the same two ranks that do not fit each other.
Verdict mismatched_messages(const Picture& picture) {
    Lines lines = strays(picture);
    for (const RankPlace& receiver : picture.all) {
        if (!waits_in_mpi(receiver)) continue;
        for (const WaitPlace& r : receiver.waits) {
            const RankPlace* sender = r.kind == WaitKind::recv ? picture.at(r.world_peer) : nullptr;
            if (sender == nullptr || !waits_in_mpi(*sender)) continue;
            for (const WaitPlace& w : sender->waits) {
                if (w.kind != WaitKind::send || w.world_peer != receiver.rank) continue;
                const std::string who = "rank " + std::to_string(receiver.rank) + " wants ";
                const std::string other = ", but rank " + std::to_string(sender->rank) + " sends it ";
                if (w.comm != r.comm)
                    lines.push_back(who + "a message on " + r.comm + other + "one on " + w.comm);
                else if (r.tag != recorder_any && w.tag != r.tag)
                    lines.push_back(who + "tag " + std::to_string(r.tag) + other + "tag " +
                                    std::to_string(w.tag));
            }
        }
    }
    return {lines, "use the same tag and communicator on both sides, or MPI_ANY_TAG"};
}

using Groups = std::map<std::string, std::vector<int>>;

std::string join(const Groups& groups) {
    std::string text;
    for (const auto& [place, ranks] : groups)
        text += (text.empty() ? "" : "; ") + ranks_text(ranks) +
                (ranks.size() == 1 ? " is in " : " are in ") + place;
    return text;
}

// All in collectives, but not in the same one. Those that are behind show the mistake, if they differ.
Verdict mismatched_collectives(const Picture& picture) {
    constexpr const char* todo =
        "let all ranks of a communicator call the same collectives in the same order";
    Groups comms, sequences, functions, roots;
    std::set<std::string> communicators;
    std::map<uint32_t, std::vector<const RankPlace*>> by_sequence;
    for (const RankPlace& p : picture.all) {
        const WaitPlace* w = collective_wait(p);
        if (w == nullptr) continue;
        comms[p.function + " on " + w->comm].push_back(p.rank);
        sequences["the " + ordinal(w->sequence) + " collective on " + w->comm].push_back(p.rank);
        communicators.insert(w->comm);
        by_sequence[w->sequence].push_back(&p);
    }
    if (communicators.empty()) return {};
    if (communicators.size() > 1) return {{"collectives on different communicators: " + join(comms)}, todo};
    std::set<int> named_roots;
    for (const RankPlace* p : by_sequence.begin()->second) {
        functions[p->function].push_back(p->rank);
        roots[p->function + " with root " + std::to_string(p->peer)].push_back(p->rank);
        if (p->peer != recorder_none) named_roots.insert(p->peer);
    }
    const std::string same =
        "the " + ordinal(by_sequence.begin()->first) + " collective on " + *communicators.begin();
    if (functions.size() > 1) return {{"different functions as " + same + ": " + join(functions)}, todo};
    if (named_roots.size() > 1)
        return {{"different roots in " + same + ": " + join(roots)}, "pass the same root on all ranks"};
    if (by_sequence.size() > 1) return {{"some ranks are ahead of others: " + join(sequences)}, todo};
    return {};
}

Verdict circles(const Picture& picture) {
    std::vector<int> ring = picture.cycle();
    if (ring.empty()) return {};
    std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
    std::string text = "a circle of waiting: ";
    bool all_send = true;
    bool all_receive = true;
    for (const int r : ring) {
        text += std::to_string(r) + " \u2192 ";
        for (const WaitPlace& w : picture.at(r)->waits) {
            all_send = all_send && w.kind == WaitKind::send;
            all_receive = all_receive && w.kind == WaitKind::recv;
        }
    }
    text += std::to_string(ring.front());
    if (all_send)
        return {{text + "; all of them send, and nobody has posted the receive"},
                "use MPI_Sendrecv, or post receives with MPI_Irecv before sending"};
    if (all_receive)
        return {{text + "; all of them receive, and nobody sends"},
                "let one of them send first, or use MPI_Sendrecv"};
    return {{text}, "change the order of the calls on one of these ranks"};
}

// The communicator with most ranks in a collective or in an agreement, and these ranks.
std::vector<const RankPlace*> largest_meeting(const Picture& picture) {
    std::map<std::pair<std::string, WaitKind>, std::vector<const RankPlace*>> by_comm;
    for (const RankPlace& p : picture.all)
        for (const WaitPlace* w : {collective_wait(p), agreement_wait(p)})
            if (w != nullptr) by_comm[{w->comm, w->kind}].push_back(&p);
    std::vector<const RankPlace*> largest;
    for (const auto& [comm, ranks] : by_comm)
        if (ranks.size() > largest.size()) largest = ranks;
    return largest;
}

// Some in a collective, others, for whom they wait, somewhere else.
Verdict odd_ones_out(const Picture& picture) {
    const auto meeting = largest_meeting(picture);
    std::vector<int> inside;
    inside.reserve(meeting.size());
    for (const RankPlace* p : meeting) inside.push_back(p->rank);
    std::map<std::string, std::vector<int>> outside;
    size_t missing = 0;
    for (const RankPlace& p : picture.all) {
        if (!waits_in_mpi(p) || std::find(inside.begin(), inside.end(), p.rank) != inside.end()) continue;
        const auto waiters = picture.waiters_for(p.rank);
        if (std::none_of(waiters.begin(), waiters.end(),
                         [&](int r) { return std::find(inside.begin(), inside.end(), r) != inside.end(); }))
            continue;
        outside[place_text(p)].push_back(p.rank);
        ++missing;
    }
    if (outside.empty()) return {};
    const auto odd = [](const std::vector<int>& ranks, const std::string& place) {
        return ranks_text(ranks) +
               (ranks.size() == 1 ? " is the odd one out: it " : " are the odd ones out: each ") + place;
    };
    const auto meanwhile = [](const std::vector<int>& ranks, const std::string& place) {
        return ", while " + ranks_text(ranks) + (ranks.size() == 1 ? " waits in " : " wait in ") + place;
    };
    constexpr const char* todo = "let every rank of the communicator call the collective, or none";
    if (inside.size() < missing && outside.size() == 1)
        return {{odd(inside, place_text(*meeting[0])) +
                 meanwhile(outside.begin()->second, picture.at(outside.begin()->second[0])->function)},
                todo};
    Verdict v{{}, todo};
    for (const auto& [place, ranks] : outside)
        v.lines.push_back(odd(ranks, place) + meanwhile(inside, meeting[0]->function));
    return v;
}

Verdict unanswered_wildcards(const Picture& picture) {
    std::vector<int> waiting;
    for (const RankPlace& p : picture.all)
        if (waits_in_mpi(p) && std::any_of(p.waits.begin(), p.waits.end(), [](const WaitPlace& w) {
                return w.kind == WaitKind::recv && w.world_peer == recorder_any;
            }))
            waiting.push_back(p.rank);
    if (waiting.empty()) return {};
    return {{ranks_text(waiting) + (waiting.size() == 1 ? " waits" : " wait") +
             " for a message from any rank, and nobody sends one"},
            "send one, or count the messages that are to come"};
}

} // namespace

Verdict verdict(const Snapshot& s) {
    const bool stuck = std::any_of(s.begin(), s.end(), waits_in_mpi);
    if (!stuck) return {};
    const Picture picture(s);
    for (const auto look : {busy_peers, mismatched_messages, gone_peers, mismatched_collectives, circles,
                            odd_ones_out, unanswered_wildcards})
        if (Verdict v = look(picture); !v.lines.empty()) return v;
    return {{"no single cause found; this is where the ranks are"},
            "follow from rank to rank for whom each one waits"};
}

} // namespace zipmpi::launch
