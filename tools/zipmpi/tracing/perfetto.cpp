// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Trace Event Format (JSON), read by ui.perfetto.dev and chrome://tracing: a process per rank, a slice per
// call, a flow per message.
#include "tracing/trace.hpp"

#include "names/function_table.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace zipmpi::tool {
namespace {

double us(int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string rank_lines(const RankTrace& r) {
    return fmt::format(
        "{{\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":{1}}}}},\n"
        "{{\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{0}}}"
        "}},\n",
        r.rank, Json("rank " + std::to_string(r.rank) + " on " + r.host).dump());
}

std::string call_line(uint32_t rank, const TraceEvent& e) {
    std::string arguments = fmt::format("\"bytes\":{}", e.bytes);
    if (e.peer != wire::trace_no_peer) arguments += fmt::format(",\"peer\":{},\"tag\":{}", e.peer, e.tag);
    return fmt::format(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":0,\"cat\":\"mpi\",\"name\":\"{}\",\"ts\":{:.3f},\"dur\":{:.3f},"
        "\"args\":{{{}}}}},\n",
        rank, names::function(e.function).name, us(e.start), us(e.end - e.start), arguments);
}

// A flow binds to the slices that contain its ends.
std::string flow_lines(const Trace& trace, const TraceMessage& m, size_t id) {
    return fmt::format("{{\"ph\":\"s\",\"pid\":{0},\"tid\":0,\"cat\":\"message\",\"name\":\"message\",\"id\":"
                       "{2},\"ts\":{3:.3f}}},\n"
                       "{{\"ph\":\"f\",\"bp\":\"e\",\"pid\":{1},\"tid\":0,\"cat\":\"message\",\"name\":"
                       "\"message\",\"id\":{2},"
                       "\"ts\":{4:.3f}}},\n",
                       trace.ranks[m.from].rank, trace.ranks[m.to].rank, id, us(m.sent), us(m.received - 1));
}

} // namespace

bool write_perfetto(const Trace& trace, const TraceAnalysis& analysis, const std::string& path,
                    Diagnostic& why) {
    FILE* const file = std::fopen(path.c_str(), "we");
    const auto put = [&](const std::string& text) {
        return std::fwrite(text.data(), 1, text.size(), file) == text.size();
    };
    bool good = file != nullptr && put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (const RankTrace& r : trace.ranks) {
        good = good && put(rank_lines(r));
        for (const TraceEvent& e : r.events)
            if (good && e.is_call()) good = put(call_line(r.rank, e));
    }
    for (size_t i = 0; good && i < analysis.messages.size(); ++i)
        good = put(flow_lines(trace, analysis.messages[i], i + 1));
    good =
        good && put(fmt::format(
                    "{{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"job\",\"args\":{{\"name\":{}}}}}\n]}}\n",
                    Json(trace.job).dump()));
    const int error = errno;
    if (file != nullptr) good = std::fclose(file) == 0 && good;
    if (!good)
        why = {"the trace could not be written", path, std::strerror(error),
               "check the name and the free space"};
    return good;
}

} // namespace zipmpi::tool
