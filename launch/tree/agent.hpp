// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the launch agent: AGENT... HOST DAEMON, or with {host} in AGENT replaced by the host. The daemon reads
// its bootstrap data from standard input.
#pragma once

#include "launch/protocol/messages.hpp"

#include "base/diagnostic.hpp"
#include "os/fd.hpp"

#include <sys/types.h>

namespace zipmpi::launch {

// Splits a command into words as a shell does: blanks, quotes, backslashes, and nothing else.
bool split_words(std::string_view text, std::vector<std::string>& words);

// Quotes a path for the remote shell of ssh; unchanged, and fit for a direct exec, if it has no special
// characters.
std::string shell_quote(const std::string& path);

// Words of an agent for a host: the host appended, or in place of {host}.
std::vector<std::string> agent_command(std::vector<std::string> words, const std::string& host);

struct Agent {
    pid_t pid = -1;
    os::Fd agent_stderr;
};
// command: words of the agent and the daemon. input: standard input of the daemon.
bool start_agent(std::vector<std::string> command, const std::string& host, const std::string& input,
                 Agent& out, Diagnostic& why);

} // namespace zipmpi::launch
