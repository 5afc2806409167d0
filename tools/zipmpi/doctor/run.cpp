// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/run.hpp"

#include "doctor/doctor.hpp"
#include "os/fd.hpp"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

constexpr size_t most_output = 1 << 20;

struct Process {
    pid_t pid = -1;
    os::Fd out, err;
};

[[noreturn]] void become(const std::vector<std::string>& words, int out, int err) {
    setsid(); // whoever wants to ask for a password finds no terminal
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
    _exit(127);
}

Process start(const std::vector<std::string>& words) {
    Process p;
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) != 0) return p;
    p.out.reset(out[0]);
    const os::Fd out_end(out[1]);
    if (pipe2(err, O_CLOEXEC) != 0) return p;
    p.err.reset(err[0]);
    const os::Fd err_end(err[1]);
    p.pid = fork();
    if (p.pid == 0) become(words, out[1], err[1]);
    return p;
}

void take(os::Fd& fd, std::string& text) {
    char buffer[4096];
    const ssize_t n = read(fd.get(), buffer, sizeof buffer);
    if (n > 0 && text.size() < most_output)
        text.append(buffer, static_cast<size_t>(n));
    else
        fd.reset();
}

void end(Process& p, Ran& ran) {
    if (p.pid <= 0) return;
    ran.too_long = static_cast<bool>(p.out) || static_cast<bool>(p.err);
    if (ran.too_long) kill(-p.pid, SIGKILL);
    int status = 0;
    if (waitpid(p.pid, &status, 0) == p.pid && WIFEXITED(status) && !ran.too_long)
        ran.status = WEXITSTATUS(status);
}

} // namespace

std::vector<Ran> run_all(const std::vector<std::vector<std::string>>& commands, double seconds) {
    std::vector<Ran> all(commands.size());
    std::vector<Process> processes;
    for (size_t i = 0; i < commands.size(); ++i) {
        all[i].began = wall_clock();
        processes.push_back(start(commands[i]));
    }
    const double until = wall_clock() + seconds;
    for (;;) {
        std::vector<pollfd> fds;
        for (const Process& p : processes)
            for (const int fd : {p.out.get(), p.err.get()}) fds.push_back({fd, POLLIN, 0}); // -1: left out
        size_t open = 0;
        for (const pollfd& f : fds) open += f.fd >= 0 ? 1 : 0;
        const double left = until - wall_clock();
        if (open == 0 || left <= 0 || poll(fds.data(), fds.size(), static_cast<int>(left * 1000) + 1) == 0)
            break;
        for (size_t i = 0; i < processes.size(); ++i) {
            if (fds[2 * i].revents != 0) take(processes[i].out, all[i].out);
            if (fds[2 * i + 1].revents != 0) take(processes[i].err, all[i].err);
            if (all[i].ended == 0 && !processes[i].out) all[i].ended = wall_clock();
        }
    }
    for (size_t i = 0; i < processes.size(); ++i) end(processes[i], all[i]);
    return all;
}

} // namespace zipmpi::tool
