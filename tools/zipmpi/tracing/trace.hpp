// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `zipmpi trace`: the profile of a trace, and the trace in formats of other tools.
#pragma once

#include "json.hpp"
#include "tracing/analysis.hpp"

namespace zipmpi::tool {

struct TraceOptions {
    std::string folder, job;
    bool json = false;
    std::string perfetto, html, otf2; // files and folder to write; empty: none
};

int run_trace(const TraceOptions& o);

Json trace_facts(const Trace& trace, const TraceAnalysis& analysis);
std::string trace_text(const Json& facts);

// Each writes a file (OTF2: an archive in a folder) and sets `why` on failure.
bool write_perfetto(const Trace& trace, const TraceAnalysis& analysis, const std::string& path,
                    Diagnostic& why);
bool write_html(const Trace& trace, const TraceAnalysis& analysis, const Json& facts, const std::string& path,
                Diagnostic& why);
bool write_otf2(const Trace& trace, const std::string& path, Diagnostic& why);

} // namespace zipmpi::tool
