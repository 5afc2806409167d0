// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Options about the standard streams of ranks.
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/options.hpp"

namespace zipmpi::launch::act {
namespace {

using Label = OutputPolicy::Label;
using Tag = OutputPolicy::Tag;

bool read_pattern(const Use& use, std::string& out, Diagnostic& why) {
    out = use.value();
    std::string text;
    if (!out.empty() && expand(out, {}, text)) return true;
    return bad_value(use, "is not a pattern",
                     "use %r for the rank, %h for the host, %g, %p, %t, and %% for a percent sign", why);
}

bool check_not_empty(const Use& use, const std::string& text, Diagnostic& why) {
    return !text.empty() || bad_value(use, "is not a name", "name a file or a directory", why);
}

// Removes ":nocopy,nojobid" from the end. Any other ':' belongs to the name.
std::vector<std::string> split_suffix_words(std::string& name) {
    const size_t colon = name.rfind(':');
    if (colon == std::string::npos) return {};
    std::vector<std::string> words = split(lower_case(name.substr(colon + 1)), ',');
    for (const std::string& word : words)
        if (word != "nocopy" && word != "nojobid") return {};
    if (!words.empty()) name.resize(colon);
    return words;
}

} // namespace

bool label(const Use& use, Draft& draft, Diagnostic& why) {
    OutputPolicy& o = draft.job.output;
    const std::string how = use.value();
    if (how != "" && how != "rank" && how != "fold" && how != "hydra" && how != "openmpi")
        return bad_value(use, "is not a label format", "write --label or --label=fold", why);
    o.label = how == "fold" ? Label::fold : Label::rank;
    o.tag = how == "openmpi" ? Tag::openmpi : Tag::rank;
    return true;
}

bool label_pattern(const Use& use, Draft& draft, Diagnostic& why) {
    draft.job.output.label = Label::rank;
    draft.job.output.tag = Tag::pattern;
    return read_pattern(use, draft.job.output.tag_pattern, why);
}

bool timestamps(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    return draft.job.output.timestamps = true;
}

bool output_directory(const Use& use, Draft& draft, Diagnostic& why) {
    set_output_directory(draft.job.output, use.value());
    draft.job.output.copy_to_terminal = false;
    return check_not_empty(use, use.value(), why);
}

bool output_filename(const Use& use, Draft& draft, Diagnostic& why) {
    std::string name = use.value();
    for (const std::string& word : split_suffix_words(name)) {
        if (word == "nocopy") draft.job.output.copy_to_terminal = false;
        if (word == "nojobid") draft.job.job_level = JobLevel::omitted;
    }
    draft.job.openmpi_directory = name;
    set_openmpi_directory(draft.job.output, name, draft.job.job_level);
    return check_not_empty(use, name, why);
}

// May come before or after the directory.
bool no_job_level(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    Options& job = draft.job;
    job.job_level = JobLevel::omitted;
    if (!job.openmpi_directory.empty())
        set_openmpi_directory(job.output, job.openmpi_directory, job.job_level);
    return true;
}

bool output_file(const Use& use, Draft& draft, Diagnostic& why) {
    set_output_files(draft.job.output, use.value());
    return check_not_empty(use, use.value(), why);
}

bool no_copy(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.job.output.copy_to_terminal = false;
    return true;
}

bool stdout_pattern(const Use& use, Draft& draft, Diagnostic& why) {
    draft.job.output.copy_to_terminal = false;
    return read_pattern(use, draft.job.output.out_file, why);
}

bool stderr_pattern(const Use& use, Draft& draft, Diagnostic& why) {
    draft.job.output.copy_to_terminal = false;
    return read_pattern(use, draft.job.output.err_file, why);
}

bool merge_stderr(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    return draft.job.output.merge_stderr_to_stdout = true;
}

bool stdin_target(const Use& use, Draft& draft, Diagnostic& why) {
    OutputPolicy& o = draft.job.output;
    const std::string text = lower_case(use.value());
    if (use.words.empty()) return apply_option("--preload-binary", nullptr, use, draft, why);
    long rank = 0;
    o.stdin_for = text == "all" || text == "-1"    ? OutputPolicy::Stdin::all
                  : text == "none" || text == "-2" ? OutputPolicy::Stdin::none
                                                   : OutputPolicy::Stdin::one;
    if (o.stdin_for != OutputPolicy::Stdin::one) return true;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
        return bad_value(use, "is not one rank, all or none", "write for example: --stdin 0", why);
    if (!parse_whole_number(use, 0, INT32_MAX, rank, why)) return false;
    o.stdin_rank = static_cast<uint32_t>(rank);
    return true;
}

bool print_exit_codes(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    return draft.job.output.print_exit_codes = true;
}

bool report_pid(const Use& use, Draft& draft, Diagnostic& why) {
    draft.job.report_pid = use.value();
    return check_not_empty(use, use.value(), why);
}

} // namespace zipmpi::launch::act
