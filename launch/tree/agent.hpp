// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Running the launch agent: AGENT... HOST DAEMON, or {host} in AGENT replaced by the host, with what the
// daemon must know on its standard input.
#pragma once

#include "launch/link/messages.hpp"

#include "base/problem.hpp"
#include "os/fd.hpp"

#include <sys/types.h>

namespace zipmpi::launch {

// The words of a command as a shell would split them: blanks, quotes, backslashes, and nothing else.
bool split_words(std::string_view text, std::vector<std::string>& words);

// A path that survives the shell at the other end of ssh, and a direct exec if it has no special characters.
std::string for_a_shell(const std::string& path);

// The words of an agent for a host: the host at the end, or where the agent wants it.
std::vector<std::string> with_host(std::vector<std::string> words, const std::string& host);

struct Agent {
    pid_t pid = -1;
    os::Fd complaints; // its stderr
};
bool start_agent(const TreePlan& plan, uint32_t node, const std::string& input, Agent& out, Problem& why);

} // namespace zipmpi::launch
