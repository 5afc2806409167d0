// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Options about the run: how it starts on other hosts, under which tools, how it ends, what mpiexec prints.
#include "launch/mpiexec/actions.hpp"
#include "launch/mpiexec/allocation.hpp"
#include "launch/mpiexec/help.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/tree/agent.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace zipmpi::launch::act {
namespace {

struct Launcher {
    const char* name;
    const char* agent;
};
constexpr std::array launchers = {
    Launcher{"ssh", ssh_agent},     Launcher{"rsh", "rsh"},        Launcher{"lsf", lsf_agent},
    Launcher{"blaunch", lsf_agent}, Launcher{"sge", sge_agent},    Launcher{"qrsh", sge_agent},
    Launcher{"slurm", slurm_agent}, Launcher{"srun", slurm_agent},
};

bool parse_pmix(const Use& use, Pmix& out) {
    const std::string text = use.value();
    out = text == "yes" ? Pmix::yes : text == "no" ? Pmix::no : Pmix::automatic;
    return out != Pmix::automatic || text == "auto";
}

// "7" or "0-3"
bool is_range(std::string_view text) {
    const char* const end = text.data() + text.size();
    uint32_t first = 0;
    std::from_chars_result read = std::from_chars(text.data(), end, first);
    uint32_t last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
        read = std::from_chars(read.ptr + 1, end, last);
    return read.ec == std::errc() && read.ptr == end && first <= last;
}

bool are_ranges(std::string_view list) {
    const std::vector<std::string> ranges = split(list, ',');
    return !ranges.empty() && std::all_of(ranges.begin(), ranges.end(), is_range);
}

bool add_tool(const Use& use, Draft& draft, const std::string& ranks, Tool tool, Diagnostic& why) {
    const bool all = ranks.empty() || ranks == "all" || ranks == "-1";
    if (!all && !are_ranges(ranks))
        return bad_value(use, "is not a list of ranks", "write for example: " + use.written + " 0-3,7", why);
    tool.ranks = all ? "" : ranks;
    draft.job.tools.push_back(std::move(tool));
    return true;
}

} // namespace

bool timeout(const Use& use, Draft& draft, Diagnostic& why) {
    return parse_seconds(use, draft.job.timeout, why);
}
// hydra: -1 is no limit.
bool timeout_variable(const Use& use, Draft& draft, Diagnostic& why) {
    return use.value() == "-1" || timeout(use, draft, why);
}
bool report_hang(const Use& use, Draft& draft, Diagnostic& why) {
    return parse_seconds(use, draft.job.observation.report_hang, why);
}

bool profile(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    return draft.job.observation.profile = true;
}

bool trace(const Use& use, Draft& draft, Diagnostic& why) {
    if (use.value().empty() || use.value()[0] == '-') // Intel MPI's option of this name has no value
        return bad_value(use, "is not a directory", "write for example: --trace traces", why);
    std::error_code failed;
    draft.job.observation.trace_folder = std::filesystem::absolute(use.value(), failed).string();
    return true;
}

bool trace_limit(const Use& use, Draft& draft, Diagnostic& why) {
    long n = 0;
    if (!parse_whole_number(use, 1, 1 << 20, n, why)) return false;
    draft.job.observation.limit_mib = static_cast<uint32_t>(n);
    return true;
}

bool keep_going(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) { return draft.job.keep_going = true; }

bool with_ft(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string kind = lower_case(use.value());
    if (parse_truth(kind) == 0) return true;
    if (parse_truth(kind) != 1 && kind != "ulfm" && kind != "mpi")
        return bad_value(use, "is not a kind of fault tolerance", "write --keep-going", why);
    return draft.job.keep_going = true;
}

bool zero_only(const Use& use, Draft& draft, Diagnostic& why) {
    if (use.value() == "0") return accept(use, draft, why);
    why = {"the option " + use.written + " is not supported", use.where, use.row->help,
           "write --keep-going, and let the program continue without them"};
    return false;
}

bool gpus_per_rank(const Use& use, Draft& draft, Diagnostic& why) {
    if (use.value() == "0" || lower_case(use.value()) == "auto") return accept(use, draft, why);
    why = {"the option " + use.written + " is not supported", use.where,
           "mpiexec does not assign GPUs to ranks",
           "let a script around the program set CUDA_VISIBLE_DEVICES from MPI_LOCALRANKID"};
    return false;
}

bool mpi(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string text = use.value();
    draft.job.other_mpis.library = text == "zipmpi" ? MpiMode::zipmpi
                                   : text == "own"  ? MpiMode::own
                                                    : MpiMode::automatic;
    return draft.job.other_mpis.library != MpiMode::automatic || text == "auto" ||
           bad_value(use, "is not a choice", "write --mpi auto, --mpi zipmpi or --mpi own", why);
}

bool pmix(const Use& use, Draft& draft, Diagnostic& why) {
    return parse_pmix(use, draft.job.other_mpis.pmix) ||
           bad_value(use, "is not a choice", "write --pmix auto, --pmix yes or --pmix no", why);
}

bool gdb(const Use& use, Draft& draft, Diagnostic& why) {
    return add_tool(use, draft, use.value(), {{}, {"gdb", "-q", "-ex", "run", "--args"}, true}, why);
}

// "0-3!" keeps the windows open.
bool xterm(const Use& use, Draft& draft, Diagnostic& why) {
    std::string ranks = use.value();
    Tool tool{{}, {}, true};
    if (ranks.ends_with('!')) {
        ranks.pop_back();
        tool.command = {"sh", "-c",
                        "\"$@\"; s=$?; echo; echo \"status $s; Enter closes this window\"; read x; exit $s",
                        "sh"};
    }
    return add_tool(use, draft, ranks, std::move(tool), why);
}

// "TOOL WORDS:0-3=exclusive@arch;TOOL2:4"
bool tool(const Use& use, Draft& draft, Diagnostic& why) {
    for (const std::string& entry : split(use.value(), ';')) {
        const size_t colon = entry.rfind(':');
        Tool one;
        std::string ranks = colon == std::string::npos ? "" : entry.substr(colon + 1);
        ranks.resize(std::min(ranks.find_first_of("=@"), ranks.size()));
        if (colon == std::string::npos || !split_words(entry.substr(0, colon), one.command) ||
            one.command.empty())
            return bad_value(use, "is not TOOL:RANKS", "write for example: -gtool \"valgrind -q:0-3\"", why);
        if (!add_tool(use, draft, ranks, std::move(one), why)) return false;
    }
    return true;
}

bool exec_agent(const Use& use, Draft& draft, Diagnostic& why) {
    Tool one;
    if (!split_words(use.value(), one.command) || one.command.empty())
        return bad_value(use, "is not a command", "write for example: --exec-agent \"valgrind -q\"", why);
    return add_tool(use, draft, "", std::move(one), why);
}

bool dry_run(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) { return draft.job.dry_run = true; }
bool verbose(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) { return draft.job.verbose = true; }

// Open MPI's option of this name sets its daemon.
bool launch_agent(const Use& use, Draft& draft, Diagnostic& why) {
    std::string text = use.value();
    if (const size_t other = text.find(" : "); other != std::string::npos) text.resize(other); // "ssh : rsh"
    std::vector<std::string> words;
    if (!split_words(text, words) || words.empty())
        return bad_value(use, "is not a command", "write for example: --launch-agent \"ssh -p 2222\"", why);
    const std::string program = words[0].substr(words[0].rfind('/') + 1);
    if (program == "orted" || program == "prted") {
        draft.job.notes.push_back(use.written + " " + text + " has no effect: the daemon is zipmpi-noded");
        return true;
    }
    draft.job.launch.agent = text;
    draft.job.launch.inherited_agent_override = {}; // meant for another agent
    return true;
}

bool launcher(const Use& use, Draft& draft, Diagnostic& why) {
    const std::string name = lower_case(use.value());
    draft.job.launch.fork_only = name == "fork";
    if (name == "fork") return true;
    for (const Launcher& l : launchers)
        if (name == l.name) {
            draft.job.launch.agent = l.agent;
            return true;
        }
    return bad_value(use, "is not a launcher that mpiexec can use",
                     "write ssh, rsh, lsf, sge or slurm, or a command with --launch-agent", why);
}

bool launcher_program(const Use& use, Draft& draft, Diagnostic& why) {
    draft.job.launch.agent_override.program = use.value();
    return !use.value().empty() || bad_value(use, "is not a program", "name a program, such as ssh", why);
}

bool launcher_args(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.launch.agent_override.extra_args += " " + use.value();
    return true;
}

bool fanout(const Use& use, Draft& draft, Diagnostic& why) {
    long n = 0;
    if (!parse_whole_number(use, 1, INT32_MAX, n, why))
        return bad_value(use, "is not a number of hosts", "write a number of at least 1; the default is 32",
                         why);
    draft.job.launch.fanout = static_cast<uint32_t>(n);
    return true;
}

bool prefix(const Use& use, Draft& draft, Diagnostic& why) {
    draft.job.launch.prefix = use.value();
    while (draft.job.launch.prefix.ends_with('/')) draft.job.launch.prefix.pop_back();
    return use.value().starts_with('/') ||
           bad_value(use, "is not an absolute path", "write for example: --prefix /opt/zipmpi", why);
}

bool interface(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.launch.interface = use.value();
    return true;
}

bool info(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.job.print = version_text() + "`zipmpi info` shows the build, the host and the settings.\n";
    return true;
}

bool help(const Use& use, Draft& draft, Diagnostic& /*why*/) {
    draft.job.print = help_text(use.value() == "all");
    return true;
}

bool version(const Use& /*use*/, Draft& draft, Diagnostic& /*why*/) {
    draft.job.print = version_text();
    return true;
}

} // namespace zipmpi::launch::act
