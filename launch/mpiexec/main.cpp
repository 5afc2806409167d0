// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/param.hpp"
#include "launch/mpiexec/frontend.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/plan_env.hpp"
#include "launch/mpiexec/planning.hpp"
#include "launch/mpiexec/process_table.hpp"
#include "launch/protocol/rank_environment.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <string_view>
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

// Opens closed standard descriptors, which sockets of mpiexec would otherwise take.
void open_standard_descriptors() {
    for (int fd = 0; fd < 3; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(1);
}

// Parameters of the launcher.
void load_settings(const StartRequest& request) {
    const std::vector<std::string> settings = merge_env(request.base_env, request.apps[0].env);
    std::vector<const char*> list;
    list.reserve(settings.size() + 1);
    for (const std::string& s : settings) list.push_back(s.c_str());
    list.push_back(nullptr);
    load_params(list.data()); // the library has more parameters and reports invalid ones
}

int refuse(const Diagnostic& why, int exit_code) {
    report(why, "mpiexec");
    return exit_code;
}

int print_and_exit(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    return refuse({"the output could not be written", "standard output of mpiexec", std::strerror(errno),
                   "check the destination of the standard output of mpiexec"},
                  1);
}

// --report-pid: '-' stdout, '+' stderr, else a file.
bool report_pid(const std::string& where, Diagnostic& why) {
    if (where.empty()) return true;
    FILE* const file = where == "-" ? stdout : where == "+" ? stderr : std::fopen(where.c_str(), "we");
    const bool ok = file != nullptr && std::fprintf(file, "%d\n", getpid()) > 0 && std::fflush(file) == 0;
    if (!ok)
        why = {"the process id cannot be written", where, std::strerror(errno),
               "check the name and permissions"};
    if (file != nullptr && file != stdout && file != stderr) std::fclose(file);
    return ok;
}

// For -v, on stderr.
void print_plan(const Options& options, const StartRequest& request, const Remarks& remarks) {
    std::string text;
    for (const std::string& note : options.notes) text += "mpiexec: " + note + "\n";
    for (const std::string& note : remarks.notes) text += "mpiexec: " + note + "\n";
    std::fputs((text + plan_text(options, request)).c_str(), stderr);
}

// Settings for jobs that ranks start by MPI_Comm_spawn.
void export_to_spawned_jobs(StartRequest& request) {
    // Port of the parent job for the ranks of a spawned job. Not inherited further: a job that such a rank
    // starts with its own mpiexec has no parent.
    if (const char* const port = std::getenv("ZIPMPI_SPAWN_PORT"); port != nullptr)
        request.base_env.push_back(std::string("ZIPMPI_PARENT_PORT=") + port);
    if (const std::string agent = agent_text(request); !agent.empty()) // spawned jobs use the same agent
        request.base_env.push_back("ZIPMPI_SPAWN_AGENT=" + agent);
}

// Called by operator new. Allocates nothing.
[[noreturn]] void end_without_memory() {
    constexpr std::string_view text =
        "mpiexec: out of memory\n"
        "  where: this host, before the job has started or while it runs\n"
        "  why:   the kernel refused more memory to mpiexec\n"
        "  fix:   free memory on this host, or raise the memory limit (ulimit -v)\n";
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    _exit(1); // daemons end their ranks when the connection closes
}

} // namespace

int main(int argc, char** argv) {
    std::set_new_handler(end_without_memory);
    open_standard_descriptors();
    Options options;
    Diagnostic why;
    int exit_code = exit_usage;
    if (!parse_options({argv + 1, argv + argc}, environ, options, why)) return refuse(why, exit_usage);
    if (!options.print.empty()) return print_and_exit(options.print);
    StartRequest request;
    request.job_id = random_id();
    request.hold = is_debugged();
    Remarks remarks;
    if (!plan_job(options, environ, request, remarks, why, exit_code)) return refuse(why, exit_code);
    load_settings(request);
    if (!request.tree.hosts.empty()) withhold_environment(options, request, remarks);
    for (const Diagnostic& warning : remarks.warnings) report(warning, "mpiexec");
    export_to_spawned_jobs(request);
    if (options.dry_run) return print_and_exit(plan_text(options, request));
    if (options.verbose) print_plan(options, request, remarks);
    if (!report_pid(options.report_pid, why)) return refuse(why, 1);
    return Frontend(options, std::move(request)).run();
}
