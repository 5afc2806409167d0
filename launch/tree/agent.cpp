// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/tree/agent.hpp"

#include "launch/noded/process_spawn.hpp"

#include "os/host.hpp"
#include "os/socket.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zipmpi::launch {

bool split_words(std::string_view text, std::vector<std::string>& words) {
    words.clear();
    bool inside = false; // a word has begun
    char quote = 0;
    std::string word;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == 0 && (c == ' ' || c == '\t')) {
            if (inside) words.push_back(std::exchange(word, {}));
            inside = false;
            continue;
        }
        inside = true;
        if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            word += text[++i];
        } else {
            word += c;
        }
    }
    if (inside) words.push_back(word);
    return quote == 0 && !words.empty();
}

std::string shell_quote(const std::string& path) {
    bool plain = !path.empty();
    std::string quoted = "'";
    for (const char c : path) {
        plain = plain &&
                (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/._-+,:@=", c) != nullptr);
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return plain ? path : quoted + "'";
}

std::vector<std::string> agent_command(std::vector<std::string> words, const std::string& host) {
    constexpr std::string_view placeholder = "{host}";
    bool replaced = false;
    for (std::string& word : words)
        for (size_t at = 0; (at = word.find(placeholder, at)) != std::string::npos; at += host.size()) {
            word.replace(at, placeholder.size(), host);
            replaced = true;
        }
    if (!replaced) words.push_back(host);
    return words;
}

bool start_agent(std::vector<std::string> words, const std::string& host, const std::string& input,
                 Agent& out, Diagnostic& why) {
    const auto refuse = [&](const char* step) {
        why = {"the daemon of host " + host + " cannot be started", "host " + os::host_name(),
               std::string("could not ") + step + " (" + words[0] + "): " + std::strerror(errno),
               "install it, or set another command: mpiexec --launch-agent \"ssh -p 2222\""};
        return false;
    };
    int in[2];
    int err[2];
    if (pipe2(in, O_CLOEXEC) != 0) return refuse("create a pipe for the launch agent");
    const os::Fd in_read(in[0]);
    const os::Fd in_write(in[1]);
    if (pipe2(err, O_CLOEXEC) != 0) return refuse("create a pipe for the launch agent");
    out.agent_stderr.reset(err[0]);
    const os::Fd err_write(err[1]);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    const os::Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    SpawnArgs spawn_plan;
    spawn_plan.path = argv[0];
    spawn_plan.argv = argv.data();
    spawn_plan.envp = environ;
    spawn_plan.stdio[0] = in_read.get();
    spawn_plan.stdio[1] = null.get();
    spawn_plan.stdio[2] = err_write.get();
    spawn_plan.ignored = ignored_signals();
    getrlimit(RLIMIT_NOFILE, &spawn_plan.open_files);
    const char* step = "start the launch agent";
    out.pid = spawn(spawn_plan, step);
    if (out.pid < 0) return refuse("start the launch agent");
    // Less than the capacity of a pipe, so this does not block; an agent that has exited is detected when it
    // is reaped.
    os::write_all(in_write.get(), input.data(), input.size());
    return true;
}

} // namespace zipmpi::launch
