// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/subprocess.hpp"

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

struct ChildProcess {
    pid_t pid = -1;
    os::Fd out, err;
};

[[noreturn]] void exec_command(const std::vector<std::string>& args, int out, int err) {
    setsid(); // no terminal for password prompts
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    std::vector<char*> argv;
    argv.reserve(args.size() + 1);
    for (const std::string& w : args) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
    _exit(127);
}

ChildProcess start_child(const std::vector<std::string>& args) {
    ChildProcess p;
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) != 0) return p;
    p.out.reset(out[0]);
    const os::Fd out_end(out[1]);
    if (pipe2(err, O_CLOEXEC) != 0) return p;
    p.err.reset(err[0]);
    const os::Fd err_end(err[1]);
    p.pid = fork();
    if (p.pid == 0) exec_command(args, out[1], err[1]);
    return p;
}

void read_output(os::Fd& fd, std::string& text) {
    char buffer[4096];
    const ssize_t n = read(fd.get(), buffer, sizeof buffer);
    if (n > 0 && text.size() < most_output)
        text.append(buffer, static_cast<size_t>(n));
    else
        fd.reset();
}

void reap(ChildProcess& p, CommandResult& ran) {
    if (p.pid <= 0) return;
    ran.timed_out = static_cast<bool>(p.out) || static_cast<bool>(p.err);
    if (ran.timed_out) kill(-p.pid, SIGKILL);
    int status = 0;
    if (waitpid(p.pid, &status, 0) == p.pid && WIFEXITED(status) && !ran.timed_out)
        ran.status = WEXITSTATUS(status);
}

} // namespace

std::vector<CommandResult> run_all(const std::vector<std::vector<std::string>>& commands, double seconds) {
    std::vector<CommandResult> all(commands.size());
    std::vector<ChildProcess> processes;
    for (size_t i = 0; i < commands.size(); ++i) {
        all[i].start_time = wall_clock();
        processes.push_back(start_child(commands[i]));
    }
    const double until = wall_clock() + seconds;
    for (;;) {
        std::vector<pollfd> fds;
        for (const ChildProcess& p : processes)
            for (const int fd : {p.out.get(), p.err.get()})
                fds.push_back({fd, POLLIN, 0}); // -1: ignored by poll
        size_t open = 0;
        for (const pollfd& f : fds) open += f.fd >= 0 ? 1 : 0;
        const double left = until - wall_clock();
        if (open == 0 || left <= 0 || poll(fds.data(), fds.size(), static_cast<int>(left * 1000) + 1) == 0)
            break;
        for (size_t i = 0; i < processes.size(); ++i) {
            if (fds[2 * i].revents != 0) read_output(processes[i].out, all[i].out);
            if (fds[2 * i + 1].revents != 0) read_output(processes[i].err, all[i].err);
            if (all[i].end_time == 0 && !processes[i].out) all[i].end_time = wall_clock();
        }
    }
    for (size_t i = 0; i < processes.size(); ++i) reap(processes[i], all[i]);
    return all;
}

} // namespace zipmpi::tool
