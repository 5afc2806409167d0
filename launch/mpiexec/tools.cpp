// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/mpiexec/tools.hpp"

#include "launch/mpiexec/actions.hpp"
#include "launch/tree/agent.hpp"

#include <cstdlib>

namespace zipmpi::launch {
namespace {

// A pane in the window of mpiexec, whose terminal the rank gets; the rank stays a child of the daemon, with
// its descriptors. The window shows titles of panes until the last rank's pane closes. A window without space
// for another pane: a window of its own.
constexpr const char* in_tmux = "p=\"tail --pid=$$ -f /dev/null; tmux if-shell -F '#{==:#{window_panes},2}' "
                                "'set-option -wu pane-border-status' \\\\; kill-pane -t \\$TMUX_PANE\" && "
                                "t=$(tmux select-layout -t \"$TMUX_PANE\" tiled \\; split-window -d -P -F "
                                "'#{pane_tty}' -t \"$TMUX_PANE\" \"$p\" \\; "
                                "select-layout -t \"$TMUX_PANE\" tiled \\; set-option -w -t \"$TMUX_PANE\" "
                                "pane-border-status top 2>/dev/null || "
                                "tmux new-window -d -P -F '#{pane_tty}' -n \"rank $PMI_RANK\" \"$p\") && "
                                "printf '\\033]2;rank %s\\033\\\\' \"$PMI_RANK\" >\"$t\" && "
                                "set -- sh -c 'exec \"$@\" <\"$0\" >\"$0\" 2>&1' \"$t\" \"$@\"";
constexpr const char* in_xterm = "set -- xterm -T \"rank $PMI_RANK\" -e \"$@\"";

// A shell pattern for `case`: 0-3,7 -> 0|1|2|3|7
std::string pattern_of(const std::string& ranks) {
    if (ranks.empty()) return "*";
    std::string all;
    for (const std::string& range : split(ranks, ',')) {
        const size_t dash = range.find('-');
        const unsigned long first = std::strtoul(range.c_str(), nullptr, 10);
        const unsigned long last =
            dash == std::string::npos ? first : std::strtoul(range.c_str() + dash + 1, nullptr, 10);
        for (unsigned long r = first; r <= last && r < first + 65536; ++r)
            all += (all.empty() ? "" : "|") + std::to_string(r);
    }
    return all;
}

std::string script_of(const Tool& tool, const char* window) {
    std::string words;
    for (const std::string& w : tool.command) words += " " + shell_quote(w);
    std::string script = "case $PMI_RANK in " + pattern_of(tool.ranks) + ") ";
    if (!words.empty()) script += "set --" + words + " \"$@\"; ";
    if (tool.window) script += std::string(window) + "; ";
    return script + ";; esac; ";
}

} // namespace

bool add_tools(const std::vector<Tool>& tools, const char* (*getenv_like)(const char*), AppContext& app,
               Diagnostic& why) {
    if (tools.empty()) return true;
    const auto is_set = [&](const char* name) {
        const char* const value = getenv_like(name);
        return value != nullptr && *value != '\0';
    };
    const char* const window = is_set("DISPLAY") ? in_xterm : is_set("TMUX") ? in_tmux : nullptr;
    std::string script;
    for (const Tool& tool : tools) {
        if (tool.window && window == nullptr) {
            why = {"no terminal window is available for the ranks", "command line of mpiexec",
                   "--gdb and --xterm open windows, but neither DISPLAY nor TMUX is set",
                   "start mpiexec in tmux or under X, or attach to a running rank: gdb -p PID"};
            return false;
        }
        script += script_of(tool, window);
    }
    std::vector<std::string> argv = {"sh", "-c", script + "exec \"$@\"", "sh", app.path};
    argv.insert(argv.end(), app.argv.begin() + 1, app.argv.end());
    app.argv = std::move(argv);
    app.path = "/bin/sh";
    return true;
}

} // namespace zipmpi::launch
