// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/report/verdict.hpp"

#include "launch/report/wording.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace zipmpi::launch {
namespace {

using Lines = std::vector<std::string>;
constexpr const char* world = "MPI_COMM_WORLD";

bool asleep(const RankPlace& p) { return p.life == Life::running && p.asleep; }

const WaitPlace* collective_wait(const RankPlace& p) {
    if (!asleep(p)) return nullptr;
    for (const WaitPlace& w : p.waits)
        if (w.kind == WaitKind::collective) return &w;
    return nullptr;
}

// Who must act before whom, and who is where.
class Picture {
  public:
    explicit Picture(const Snapshot& s)
        : all(s) {
        for (const RankPlace& p : s) by_rank_[p.rank] = &p;
        for (const RankPlace& p : s) {
            if (!asleep(p)) continue;
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
        } else if (w.kind == WaitKind::collective &&
                   w.comm == world) { // members of others are not known here
            for (const RankPlace& q : all) {
                const WaitPlace* other = collective_wait(q);
                if (other == nullptr || other->comm != w.comm || other->sequence < w.sequence)
                    if (q.rank != p.rank) edges_[p.rank].insert(q.rank);
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

// Somebody waits for a rank that cannot or does not answer.
Lines absent_peers(const Picture& picture) {
    Lines lines;
    std::map<std::pair<std::string, std::vector<int>>, std::vector<int>> found; // (state, waiters) -> ranks
    for (const RankPlace& p : picture.all) {
        if (asleep(p)) continue;
        const auto waiters = picture.waiters_for(p.rank);
        if (!waiters.empty()) found[{place_text(p), waiters}].push_back(p.rank);
    }
    for (const auto& [key, ranks] : found)
        lines.push_back(ranks_text(key.second) + (key.second.size() == 1 ? " waits for " : " wait for ") +
                        ranks_text(ranks) + ", which " + key.first);
    return lines;
}

// A receive and a send between the same two ranks that do not fit each other.
Lines mismatched_messages(const Picture& picture) {
    Lines lines;
    for (const RankPlace& receiver : picture.all) {
        if (!asleep(receiver)) continue;
        for (const WaitPlace& r : receiver.waits) {
            const RankPlace* sender = r.kind == WaitKind::recv ? picture.at(r.world_peer) : nullptr;
            if (sender == nullptr || !asleep(*sender)) continue;
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
    return lines;
}

using Groups = std::map<std::string, std::vector<int>>;

std::string join(const Groups& groups) {
    std::string text;
    for (const auto& [place, ranks] : groups)
        text += (text.empty() ? "" : "; ") + ranks_text(ranks) +
                (ranks.size() == 1 ? " is in " : " are in ") + place;
    return text;
}

// All in collectives, but not in the same one.
Lines mismatched_collectives(const Picture& picture) {
    Groups functions, roots, sequences, comms;
    std::set<std::pair<std::string, uint32_t>> places;
    std::set<std::string> names, communicators;
    std::set<int> named_roots;
    for (const RankPlace& p : picture.all) {
        const WaitPlace* w = collective_wait(p);
        if (w == nullptr) continue;
        const std::string number = "the " + ordinal(w->sequence) + " collective on " + w->comm;
        functions[p.function].push_back(p.rank);
        roots[p.function + " with root " + std::to_string(p.peer)].push_back(p.rank);
        sequences[number].push_back(p.rank);
        comms[p.function + " on " + w->comm].push_back(p.rank);
        places.emplace(w->comm, w->sequence);
        names.insert(p.function);
        communicators.insert(w->comm);
        if (p.peer != recorder_none) named_roots.insert(p.peer);
    }
    if (names.empty()) return {};
    if (communicators.size() > 1) return {"collectives on different communicators: " + join(comms)};
    if (places.size() > 1) return {"some ranks are ahead of others: " + join(sequences)};
    const std::string same =
        "the " + ordinal(places.begin()->second) + " collective on " + places.begin()->first;
    if (names.size() > 1) return {"different functions as " + same + ": " + join(functions)};
    if (named_roots.size() > 1) return {"different roots in " + same + ": " + join(roots)};
    return {};
}

Lines cycles(const Picture& picture) {
    std::vector<int> ring = picture.cycle();
    if (ring.empty()) return {};
    std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
    std::string text = "a circle of waiting: ";
    bool all_send = true;
    for (const int r : ring) {
        text += std::to_string(r) + " \u2192 ";
        for (const WaitPlace& w : picture.at(r)->waits) all_send = all_send && w.kind == WaitKind::send;
    }
    text += std::to_string(ring.front());
    if (all_send) text += "; all of them send, and nobody has posted the receive";
    return {text};
}

// Some in a collective over all ranks, others somewhere else.
Lines odd_ones_out(const Picture& picture) {
    std::vector<int> inside;
    std::map<std::string, std::vector<int>> outside;
    const RankPlace* sample = nullptr;
    for (const RankPlace& p : picture.all) {
        const WaitPlace* w = collective_wait(p);
        if (w != nullptr && w->comm == world) {
            inside.push_back(p.rank);
            sample = &p;
        } else if (asleep(p)) {
            outside[place_text(p)].push_back(p.rank);
        }
    }
    if (sample == nullptr || outside.empty()) return {};
    Lines lines;
    for (const auto& [place, ranks] : outside) {
        const bool one = ranks.size() == 1;
        lines.push_back(ranks_text(ranks) +
                        (one ? " is the odd one out: it " : " are the odd ones out: each ") + place +
                        ", while " + ranks_text(inside) + (inside.size() == 1 ? " waits in " : " wait in ") +
                        sample->function);
    }
    return lines;
}

Lines unanswered_wildcards(const Picture& picture) {
    std::vector<int> waiting;
    for (const RankPlace& p : picture.all)
        if (asleep(p) && std::any_of(p.waits.begin(), p.waits.end(), [](const WaitPlace& w) {
                return w.kind == WaitKind::recv && w.world_peer == recorder_any;
            }))
            waiting.push_back(p.rank);
    if (waiting.empty()) return {};
    return {ranks_text(waiting) + (waiting.size() == 1 ? " waits" : " wait") +
            " for a message from any rank, and nobody sends one"};
}

} // namespace

std::vector<std::string> verdict(const Snapshot& s) {
    const bool stuck = std::any_of(s.begin(), s.end(), asleep);
    if (!stuck) return {};
    const Picture picture(s);
    for (const auto look : {absent_peers, mismatched_messages, mismatched_collectives, cycles, odd_ones_out,
                            unanswered_wildcards})
        if (Lines lines = look(picture); !lines.empty()) return lines;
    return {"no single cause found; the places of all ranks:"};
}

} // namespace zipmpi::launch
