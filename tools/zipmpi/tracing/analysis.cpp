// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/analysis.hpp"

#include "base/stable_sort.hpp"

#include <algorithm>
#include <tuple>

namespace zipmpi::tool {
namespace {

using wire::TraceKind;

struct End {
    const TraceEvent* message;
    const TraceEvent* call; // that sent or completed it
};
struct Stream {
    std::vector<End> sends, receives;
};
// sender and receiver in MPI_COMM_WORLD, communicator, tag
using StreamKey = std::tuple<uint32_t, uint32_t, uint32_t, int32_t>;

std::map<StreamKey, Stream> streams_of(const Trace& trace) {
    std::map<StreamKey, Stream> streams;
    std::vector<const TraceEvent*> open; // messages whose call follows
    const auto add = [&](uint32_t self, const TraceEvent& m, const TraceEvent& call) {
        const auto peer = static_cast<uint32_t>(m.peer);
        if (m.is_send())
            streams[{self, peer, m.comm, m.tag}].sends.push_back({&m, &call});
        else
            streams[{peer, self, m.comm, m.tag}].receives.push_back({&m, &call});
    };
    for (const RankTrace& rank : trace.ranks) {
        open.clear();
        for (const TraceEvent& e : rank.events) {
            if (!e.is_call()) {
                open.push_back(&e);
                continue;
            }
            for (const TraceEvent* m : open) add(rank.rank, *m, e);
            open.clear();
            if (e.is_send() || e.is_receive()) add(rank.rank, e, e);
        }
    }
    return streams;
}

void match(const std::map<uint32_t, uint32_t>& index, const StreamKey& key, Stream& stream,
           TraceAnalysis& out) {
    const auto by_start = [](const End& a, const End& b) { return a.message->start < b.message->start; };
    stable_sort(stream.sends, by_start);
    stable_sort(stream.receives, by_start);
    const size_t n = std::min(stream.sends.size(), stream.receives.size());
    out.unmatched += stream.sends.size() + stream.receives.size() - 2 * n;
    for (size_t i = 0; i < n; ++i) {
        const End& s = stream.sends[i];
        const End& r = stream.receives[i];
        out.messages.push_back({index.at(std::get<0>(key)), index.at(std::get<1>(key)), s.message->bytes,
                                s.message->tag, s.message->start, s.call->end, r.message->start,
                                r.call->start, r.call->end, s.call->function, r.call->function});
    }
}

void find_collectives(const Trace& trace, TraceAnalysis& out) {
    struct Member {
        uint32_t rank;
        const TraceEvent* event;
    };
    std::map<std::pair<uint32_t, uint64_t>, std::vector<Member>> instances; // communicator, number
    for (uint32_t i = 0; i < trace.ranks.size(); ++i) {
        std::map<uint32_t, uint64_t> count;
        for (const TraceEvent& e : trace.ranks[i].events)
            if (e.kind == TraceKind::collective || e.kind == TraceKind::collective_start)
                instances[{e.comm, count[e.comm]++}].push_back({i, &e});
    }
    for (const auto& [key, members] : instances) {
        if (members.size() < 2) continue;
        const Member& last =
            *std::max_element(members.begin(), members.end(), [](const Member& a, const Member& b) {
                return a.event->start < b.event->start;
            });
        for (const Member& m : members)
            if (m.event->kind == TraceKind::collective)
                out.collectives.push_back(
                    {m.rank, last.rank, m.event->start, m.event->end, last.event->start, m.event->function});
    }
}

// A wait of a rank that another rank ended.
struct Dependency {
    int64_t end; // of the wait
    uint32_t rank;
    int64_t since; // when the other rank caused the end
};

std::vector<std::vector<Dependency>> dependencies_of(const Trace& trace, const TraceAnalysis& a) {
    std::vector<std::vector<Dependency>> by_rank(trace.ranks.size());
    for (const TraceMessage& m : a.messages) {
        if (m.late_sender() > 0) by_rank[m.to].push_back({m.received, m.from, m.sent});
        if (m.late_receiver() > 0) by_rank[m.from].push_back({m.send_end, m.to, m.posted});
    }
    for (const CollectiveWait& c : a.collectives)
        if (c.rank != c.last_rank && c.wait() > 0)
            by_rank[c.rank].push_back({c.end, c.last_rank, c.last_enter});
    for (std::vector<Dependency>& list : by_rank)
        std::sort(list.begin(), list.end(),
                  [](const Dependency& x, const Dependency& y) { return x.end < y.end; });
    return by_rank;
}

// Adds the time of one rank between two moments to the path.
void add_segment(const Trace& trace, uint32_t rank, int64_t from, int64_t to, CriticalPath& path) {
    if (to <= from) return;
    int64_t in_calls = 0;
    const std::vector<TraceEvent>& events = trace.ranks[rank].events;
    // Records are in the order of their ends.
    auto e = std::lower_bound(events.begin(), events.end(), from,
                              [](const TraceEvent& x, int64_t t) { return x.end < t; });
    for (; e != events.end() && e->start < to; ++e) {
        if (!e->is_call()) continue;
        const int64_t part = std::min(e->end, to) - std::max(e->start, from);
        if (part <= 0) continue;
        in_calls += part;
        path.by_function[e->function] += part;
    }
    in_calls = std::min(in_calls, to - from);
    path.in_calls += in_calls;
    path.computing += to - from - in_calls;
    path.by_rank[trace.ranks[rank].rank] += to - from;
}

// Walks back from the rank that ended last: along the rank to its last wait, then to the rank that ended it.
void find_path(const Trace& trace, TraceAnalysis& out) {
    const std::vector<std::vector<Dependency>> dependencies = dependencies_of(trace, out);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < trace.ranks.size(); ++i)
        if (trace.ranks[i].end > trace.ranks[rank].end) rank = i;
    int64_t now = trace.ranks[rank].end;
    while (true) {
        const std::vector<Dependency>& list = dependencies[rank];
        auto after = std::upper_bound(list.begin(), list.end(), now,
                                      [](int64_t t, const Dependency& d) { return t < d.end; });
        if (after == list.begin()) break;
        const Dependency& d = *--after;
        if (d.since >= now) break; // clocks that are not exact
        add_segment(trace, rank, d.end, now, out.path);
        out.path.in_messages += std::max<int64_t>(0, d.end - d.since);
        ++out.path.changes;
        rank = d.rank;
        now = d.since;
    }
    add_segment(trace, rank, trace.ranks[rank].begin, now, out.path);
}

} // namespace

int64_t TraceMessage::late_sender() const {
    return std::max<int64_t>(0, std::min(sent, received) - std::max(wait_from, posted));
}

int64_t TraceMessage::late_receiver() const {
    return send_end > posted ? std::max<int64_t>(0, posted - sent) : 0;
}

int64_t CollectiveWait::wait() const { return std::max<int64_t>(0, std::min(last_enter, end) - start); }

TraceAnalysis analyze(const Trace& trace) {
    TraceAnalysis out;
    std::map<uint32_t, uint32_t> index; // rank to index
    for (uint32_t i = 0; i < trace.ranks.size(); ++i) index[trace.ranks[i].rank] = i;
    for (auto& [key, stream] : streams_of(trace)) {
        if (!index.contains(std::get<0>(key)) || !index.contains(std::get<1>(key)))
            out.unmatched += stream.sends.size() + stream.receives.size();
        else
            match(index, key, stream, out);
    }
    find_collectives(trace, out);
    find_path(trace, out);
    return out;
}

} // namespace zipmpi::tool
