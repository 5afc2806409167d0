// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The profile of a trace as JSON, and its text.
#include "tracing/trace.hpp"

#include "names/function_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace zipmpi::tool {
namespace {

constexpr size_t rows_shown = 10;

double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

struct CallSum {
    uint64_t calls = 0, bytes = 0;
    int64_t time = 0;
    std::map<uint32_t, int64_t> by_rank;
};

Json call_facts(const Trace& trace) {
    std::map<uint16_t, CallSum> sums;
    for (const RankTrace& rank : trace.ranks)
        for (const TraceEvent& e : rank.events) {
            if (!e.is_call()) continue;
            CallSum& sum = sums[e.function];
            ++sum.calls;
            sum.time += e.end - e.start;
            sum.bytes += e.bytes;
            sum.by_rank[rank.rank] += e.end - e.start;
        }
    std::vector<std::pair<uint16_t, CallSum>> sorted(sums.begin(), sums.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    Json list = Json::array();
    for (const auto& [function, sum] : sorted) {
        int64_t most = 0;
        for (const auto& [rank, time] : sum.by_rank) most = std::max(most, time);
        const double mean = seconds(sum.time) / static_cast<double>(trace.ranks.size());
        list.push_back({{"call", names::function(function).name},
                        {"calls", sum.calls},
                        {"seconds", seconds(sum.time)},
                        {"bytes", sum.bytes},
                        {"max_over_mean", mean > 0 ? seconds(most) / mean : 1.0}});
    }
    return list;
}

Json rank_facts(const Trace& trace) {
    Json list = Json::array();
    for (const RankTrace& rank : trace.ranks) {
        int64_t in_mpi = 0;
        int64_t covered = INT64_MAX; // start of the later calls: a call inside another one counts once
        for (auto e = rank.events.rbegin(); e != rank.events.rend(); ++e) {
            if (!e->is_call() || e->start >= covered) continue;
            in_mpi += std::min(e->end, covered) - e->start;
            covered = e->start;
        }
        const int64_t run = std::max<int64_t>(rank.end - rank.begin, 1);
        list.push_back({{"rank", rank.rank},
                        {"host", rank.host},
                        {"seconds", seconds(run)},
                        {"share_in_mpi", static_cast<double>(in_mpi) / static_cast<double>(run)},
                        {"complete", rank.complete},
                        {"dropped_records", rank.dropped},
                        {"untracked_requests", rank.untracked}});
    }
    return list;
}

// Sums of pairs of ranks, largest first.
using Pair = std::pair<uint32_t, uint32_t>;
struct PairSum {
    uint64_t messages = 0, bytes = 0;
    int64_t wait = 0;
};

Json pair_facts(const std::map<Pair, PairSum>& sums, const char* first, const char* second,
                const std::function<double(const PairSum&)>& key) {
    std::vector<std::pair<Pair, PairSum>> sorted(sums.begin(), sums.end());
    std::sort(sorted.begin(), sorted.end(),
              [&](const auto& a, const auto& b) { return key(a.second) > key(b.second); });
    Json list = Json::array();
    for (size_t i = 0; i < std::min<size_t>(sorted.size(), 100); ++i) {
        const auto& [pair, sum] = sorted[i];
        list.push_back({{first, pair.first},
                        {second, pair.second},
                        {"messages", sum.messages},
                        {"bytes", sum.bytes},
                        {"seconds", seconds(sum.wait)}});
    }
    return list;
}

double by_bytes(const PairSum& s) { return static_cast<double>(s.bytes); }
double by_wait(const PairSum& s) { return static_cast<double>(s.wait); }

void add_messages(const Trace& trace, const TraceAnalysis& a, Json& out) {
    std::map<Pair, PairSum> peers;
    std::map<Pair, PairSum> senders;
    std::map<Pair, PairSum> receivers;
    const auto add = [](PairSum& sum, const TraceMessage& m, int64_t wait) {
        ++sum.messages;
        sum.bytes += m.bytes;
        sum.wait += wait;
    };
    uint64_t bytes = 0;
    for (const TraceMessage& m : a.messages) {
        const uint32_t from = trace.ranks[m.from].rank;
        const uint32_t to = trace.ranks[m.to].rank;
        bytes += m.bytes;
        add(peers[{from, to}], m, 0);
        if (m.late_sender() > 0) add(senders[{to, from}], m, m.late_sender());
        if (m.late_receiver() > 0) add(receivers[{from, to}], m, m.late_receiver());
    }
    out["messages"] = a.messages.size();
    out["bytes"] = bytes;
    out["unmatched"] = a.unmatched;
    out["peers"] = pair_facts(peers, "from", "to", by_bytes);
    out["late_senders"] = pair_facts(senders, "waiting", "late", by_wait);
    out["late_receivers"] = pair_facts(receivers, "waiting", "late", by_wait);
}

Json collective_facts(const Trace& trace, const TraceAnalysis& a) {
    std::map<Pair, PairSum> waits;
    for (const CollectiveWait& c : a.collectives) {
        if (c.wait() <= 0) continue;
        PairSum& sum = waits[{trace.ranks[c.rank].rank, trace.ranks[c.last_rank].rank}];
        ++sum.messages;
        sum.wait += c.wait();
    }
    return pair_facts(waits, "waiting", "late", by_wait);
}

Json path_facts(const CriticalPath& p) {
    Json ranks = Json::array();
    for (const auto& [rank, time] : p.by_rank) ranks.push_back({{"rank", rank}, {"seconds", seconds(time)}});
    Json calls = Json::array();
    for (const auto& [function, time] : p.by_function)
        calls.push_back({{"call", names::function(function).name}, {"seconds", seconds(time)}});
    return {{"seconds", seconds(p.computing + p.in_calls + p.in_messages)},
            {"computing_seconds", seconds(p.computing)},
            {"call_seconds", seconds(p.in_calls)},
            {"message_seconds", seconds(p.in_messages)},
            {"changes_of_rank", p.changes},
            {"ranks", ranks},
            {"calls", calls}};
}

std::string time_text(double s) {
    return s >= 1      ? fmt::format("{:.3f} s", s)
           : s >= 1e-3 ? fmt::format("{:.3f} ms", s * 1e3)
                       : fmt::format("{:.1f} us", s * 1e6);
}

double real(const Json& facts, const char* key) { return facts.at(key).get<double>(); }
uint64_t natural(const Json& facts, const char* key) { return facts.at(key).get<uint64_t>(); }

std::string shares_text(const Json& ranks) {
    const Json* low = ranks.begin();
    const Json* high = ranks.begin();
    double sum = 0;
    uint64_t dropped = 0;
    uint64_t untracked = 0;
    size_t incomplete = 0;
    for (const Json& r : ranks) {
        if (real(r, "share_in_mpi") < real(*low, "share_in_mpi")) low = &r;
        if (real(r, "share_in_mpi") > real(*high, "share_in_mpi")) high = &r;
        sum += real(r, "share_in_mpi");
        dropped += natural(r, "dropped_records");
        untracked += natural(r, "untracked_requests");
        incomplete += r.at("complete").get<bool>() ? 0 : 1;
    }
    std::string text =
        fmt::format("time in MPI: {:.1f} %; lowest {:.1f} % (rank {}), highest {:.1f} % (rank {})\n",
                    100 * sum / static_cast<double>(ranks.size()), 100 * real(*low, "share_in_mpi"),
                    natural(*low, "rank"), 100 * real(*high, "share_in_mpi"), natural(*high, "rank"));
    if (dropped > 0) text += fmt::format("{} records were dropped: raise --trace-limit\n", dropped);
    if (untracked > 0)
        text += fmt::format("{} requests were not tracked: their messages are missing\n", untracked);
    if (incomplete > 0)
        text += fmt::format("{} ranks did not finalize: their last calls are missing\n", incomplete);
    return text;
}

std::string pairs_text(const char* title, const Json& pairs, const char* line) {
    std::string text;
    for (size_t i = 0; i < std::min(pairs.size(), rows_shown); ++i) {
        const Json& p = pairs.begin()[i];
        if (i == 0) text += fmt::format("\n{}\n", title);
        const bool waits = p.contains("waiting");
        text += fmt::format(fmt::runtime(line), natural(p, waits ? "waiting" : "from"),
                            natural(p, waits ? "late" : "to"), natural(p, "messages"), natural(p, "bytes"),
                            time_text(real(p, "seconds")));
    }
    return text;
}

std::string path_text(const Json& path) {
    const double whole = std::max(real(path, "seconds"), 1e-9);
    std::string text = fmt::format(
        "\ncritical path: {}, {} changes of rank: {:.1f} % computing, {:.1f} % in calls, {:.1f} % "
        "in messages\n",
        time_text(real(path, "seconds")), natural(path, "changes_of_rank"),
        100 * real(path, "computing_seconds") / whole, 100 * real(path, "call_seconds") / whole,
        100 * real(path, "message_seconds") / whole);
    std::vector<std::pair<double, uint64_t>> ranks;
    for (const Json& r : path.at("ranks")) ranks.emplace_back(real(r, "seconds"), natural(r, "rank"));
    std::sort(ranks.rbegin(), ranks.rend());
    for (size_t i = 0; i < std::min<size_t>(ranks.size(), 5); ++i)
        text += fmt::format("  rank {}: {:.1f} %\n", ranks[i].second, 100 * ranks[i].first / whole);
    return text;
}

} // namespace

Json trace_facts(const Trace& trace, const TraceAnalysis& analysis) {
    std::set<std::string> hosts;
    uint64_t calls = 0;
    for (const RankTrace& r : trace.ranks) {
        hosts.insert(r.host);
        calls += static_cast<uint64_t>(
            std::count_if(r.events.begin(), r.events.end(), [](const TraceEvent& e) { return e.is_call(); }));
    }
    Json facts{
        {"job", trace.job},      {"ranks", trace.ranks.size()},        {"world_size", trace.world_size},
        {"hosts", hosts.size()}, {"seconds", seconds(trace.duration)}, {"calls", calls}};
    add_messages(trace, analysis, facts);
    facts["functions"] = call_facts(trace);
    facts["by_rank"] = rank_facts(trace);
    facts["collective_waits"] = collective_facts(trace, analysis);
    facts["critical_path"] = path_facts(analysis.path);
    return facts;
}

std::string trace_text(const Json& facts) {
    std::string text =
        fmt::format("job {}: {} of {} ranks on {} hosts, {}, {} calls, {} messages, {} bytes\n",
                    facts.at("job").get<std::string>(), natural(facts, "ranks"), natural(facts, "world_size"),
                    natural(facts, "hosts"), time_text(real(facts, "seconds")), natural(facts, "calls"),
                    natural(facts, "messages"), natural(facts, "bytes"));
    text += shares_text(facts.at("by_rank"));
    const double whole =
        std::max(real(facts, "seconds"), 1e-9) * static_cast<double>(natural(facts, "ranks"));
    text += fmt::format("\n{:<26} {:>10} {:>12} {:>7} {:>14} {:>9}\n", "call", "calls", "time", "share",
                        "bytes", "max/mean");
    const Json& functions = facts.at("functions");
    for (size_t i = 0; i < std::min(functions.size(), rows_shown); ++i) {
        const Json& f = functions.begin()[i];
        text +=
            fmt::format("{:<26} {:>10} {:>12} {:>5.1f} % {:>14} {:>9.1f}\n", f.at("call").get<std::string>(),
                        natural(f, "calls"), time_text(real(f, "seconds")), 100 * real(f, "seconds") / whole,
                        natural(f, "bytes"), real(f, "max_over_mean"));
    }
    text += pairs_text("messages between ranks, most bytes first", facts.at("peers"),
                       "  {} -> {}: {} messages, {} bytes\n");
    text += pairs_text("late senders", facts.at("late_senders"),
                       "  rank {0} waits for rank {1}: {4} in {2} receives\n");
    text += pairs_text("late receivers", facts.at("late_receivers"),
                       "  rank {0} waits for rank {1}: {4} in {2} sends\n");
    text += pairs_text("waits in collectives for the last rank", facts.at("collective_waits"),
                       "  rank {0} waits for rank {1}: {4} in {2} calls\n");
    return text + path_text(facts.at("critical_path"));
}

} // namespace zipmpi::tool
