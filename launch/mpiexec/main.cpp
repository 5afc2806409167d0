// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/link/environment.hpp"
#include "launch/mpiexec/front.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/program.hpp"

#include <cstdio>
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

} // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    Options options;
    Problem why;
    if (!parse_options({argv + 1, argv + argc}, environ, options, why)) {
        report(why, "mpiexec");
        return exit_usage;
    }
    if (!options.print.empty()) {
        const bool ok = std::fputs(options.print.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
        return ok ? 0 : 1;
    }
    StartRequest request;
    request.job_id = random_id();
    request.bind = options.bind;
    request.label = options.label;
    request.pmix = options.pmix == Pmix::yes;
    request.stdin_open = request.flush_prompts = true;
    request.base_env = without_launchers(environ);
    for (AppContext& app : options.apps) {
        int code = 1;
        if (!find_program(app.argv[0], app.path, why, code)) {
            report(why, "mpiexec");
            return code;
        }
        if (options.pmix == Pmix::automatic && !surely_needs_no_pmix(app.path)) request.pmix = true;
        request.world_size += app.ranks;
    }
    request.apps = options.apps;
    return Front(std::move(options), std::move(request)).run();
}
