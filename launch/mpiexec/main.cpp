// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"
#include "launch/link/environment.hpp"
#include "launch/mpiexec/front.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/planning.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

using namespace zipmpi;
using namespace zipmpi::launch;

namespace {

constexpr int exit_usage = 2;

std::string random_id() {
    uint64_t bits[1] = {};
    if (getrandom(bits, sizeof bits, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof bits))
        bits[0] = static_cast<uint64_t>(getpid());
    char text[40];
    std::snprintf(text, sizeof text, "zipmpi-%016llx", static_cast<unsigned long long>(bits[0]));
    return text;
}

// Standard descriptors that are closed would be taken by our own sockets.
void open_standard_descriptors() {
    for (int fd = 0; fd < 3; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(1);
}

// What the launcher itself wants to know of jobs over several hosts.
void load_settings(const StartRequest& request) {
    const std::vector<std::string> settings = merge_env(request.base_env, request.apps[0].env);
    std::vector<const char*> list;
    list.reserve(settings.size() + 1);
    for (const std::string& s : settings) list.push_back(s.c_str());
    list.push_back(nullptr);
    load_params(list.data()); // the library knows more knobs, and says so if one is wrong
}

int refuse(const Problem& why, int exit_code) {
    report(why, "mpiexec");
    return exit_code;
}

int print_and_exit(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    return refuse({"the answer could not be written", "standard output of mpiexec", std::strerror(errno),
                   "check where the standard output of mpiexec goes"},
                  1);
}

// --report-pid: '-' stdout, '+' stderr, else a file.
bool report_pid(const std::string& where, Problem& why) {
    if (where.empty()) return true;
    FILE* const file = where == "-" ? stdout : where == "+" ? stderr : std::fopen(where.c_str(), "we");
    const bool ok = file != nullptr && std::fprintf(file, "%d\n", getpid()) > 0 && std::fflush(file) == 0;
    if (!ok)
        why = {"the process id cannot be written", where, std::strerror(errno), "check the name and rights"};
    if (file != nullptr && file != stdout && file != stderr) std::fclose(file);
    return ok;
}

// For -v, on stderr.
void say_what_happens(const Options& options, const StartRequest& request) {
    std::string text;
    for (const std::string& note : options.notes) text += "mpiexec: " + note + "\n";
    std::fputs((text + plan_text(options, request)).c_str(), stderr);
}

// What jobs that ranks start by MPI_Comm_spawn need to know.
void pass_on_to_children(const Options& options, StartRequest& request) {
    // Its ranks look for those who have called MPI_Comm_spawn there. Only they do: no job that one of them
    // starts with an mpiexec of its own.
    if (const char* const port = std::getenv("ZIPMPI_SPAWN_PORT"); port != nullptr)
        request.base_env.push_back(std::string("ZIPMPI_PARENT_PORT=") + port);
    if (agent_of(options) != Options().agent) // what this job needs its children need too
        request.base_env.push_back("ZIPMPI_SPAWN_AGENT=" + agent_of(options));
}

} // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    Options options;
    Problem why;
    int exit_code = exit_usage;
    if (!parse_options({argv + 1, argv + argc}, environ, options, why)) return refuse(why, exit_usage);
    if (!options.print.empty()) return print_and_exit(options.print);
    StartRequest request;
    request.job_id = random_id();
    if (!plan_job(options, environ, request, why, exit_code)) return refuse(why, exit_code);
    pass_on_to_children(options, request);
    if (options.dry_run) return print_and_exit(plan_text(options, request));
    if (options.verbose) say_what_happens(options, request);
    if (!report_pid(options.report_pid, why)) return refuse(why, 1);
    if (!request.tree.hosts.empty()) load_settings(request);
    return Front(std::move(options), std::move(request)).run();
}
