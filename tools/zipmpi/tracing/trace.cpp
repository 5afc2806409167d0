// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/trace.hpp"

#include "tracing/otf2_module.hpp"

#include "os/module_folder.hpp"

#include <cstdio>
#include <filesystem>

namespace zipmpi::tool {

bool write_otf2(const Trace& trace, const std::string& path, Diagnostic& why) {
    std::string reason;
    const auto write = reinterpret_cast<Otf2Writer*>(
        os::load_symbol(os::module_path("zipmpi_otf2.so"), otf2_writer_name, reason));
    if (write == nullptr) {
        why = {"OTF2 cannot be written", path, reason,
               "install ZipMPI with OTF2 (Debian: libotf2-trace-dev for its build), or use --perfetto"};
        return false;
    }
    if (std::filesystem::exists(path)) {
        why = {"the OTF2 archive was not written", path, "the folder exists", "name a new folder"};
        return false;
    }
    if (write(trace, path, reason)) return true;
    why = {"the OTF2 archive could not be written", path, reason, "check the name and the free space"};
    return false;
}

int run_trace(const TraceOptions& o) {
    Trace trace;
    Diagnostic why;
    if (!read_trace(o.folder, o.job, trace, why)) {
        report(why, "zipmpi");
        return 1;
    }
    const TraceAnalysis analysis = analyze(trace);
    const Json facts = trace_facts(trace, analysis);
    const bool written = (o.perfetto.empty() || write_perfetto(trace, analysis, o.perfetto, why)) &&
                         (o.html.empty() || write_html(trace, analysis, facts, o.html, why)) &&
                         (o.otf2.empty() || write_otf2(trace, o.otf2, why));
    if (!written) {
        report(why, "zipmpi");
        return 1;
    }
    const std::string text = o.json ? facts.dump(2) + "\n" : trace_text(facts);
    const bool only_files = !o.json && (!o.perfetto.empty() || !o.html.empty() || !o.otf2.empty());
    if (!only_files) std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

} // namespace zipmpi::tool
