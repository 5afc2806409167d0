// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
#include "top/top.hpp"

#include "base/diagnostic.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "top/gateway_view.hpp"
#include "top/job_view.hpp"
#include "top/local_job.hpp"
#include "top/remote_job.hpp"
#include "top/screen.hpp"

#include <cstdio>
#include <memory>
#include <unistd.h>

namespace zipmpi::tool {
namespace {

constexpr size_t all_rows = 1 << 20;
constexpr size_t usual_columns = 80;

void print_once(TopView& view, double delay) {
    usleep(static_cast<useconds_t>(delay * 1e6));
    view.sample();
    size_t bright = 0;
    std::vector<std::string> lines = view.lines(all_rows, usual_columns, bright);
    lines.pop_back(); // the keys
    for (std::string& line : lines) {
        line.erase(line.find_last_not_of(' ') + 1);
        std::puts(line.c_str());
    }
}

void print_json(JobView& view, double delay) {
    usleep(static_cast<useconds_t>(delay * 1e6));
    view.sample();
    std::puts(view.facts().dump(2).c_str());
}

void run_interactive(TopView& view, double delay) {
    Screen screen;
    const auto pause_ns = static_cast<uint64_t>(delay * 1e9);
    uint64_t next = os::now_ns() + pause_ns;
    for (bool goes_on = true; goes_on;) {
        size_t bright = 0;
        const std::vector<std::string> lines = view.lines(screen.rows(), screen.columns(), bright);
        screen.show(lines, bright);
        const uint64_t now = os::now_ns();
        const char key = screen.key(now >= next ? 0 : static_cast<int>((next - now) / 1'000'000) + 1);
        if (key == 'q') return;
        if (key != 0) view.key(key);
        if (os::now_ns() < next) continue; // only a key or a new size
        goes_on = view.sample();
        next = os::now_ns() + pause_ns;
    }
}

int report_nothing_found(const TopOptions& o) {
    const bool filtered = !o.job.empty() || o.pid != 0;
    if (o.all_hosts) {
        report({"no job was found", "host " + os::host_name(),
                std::string("no mpiexec of this user serves the state of a job") +
                    (filtered ? " with this id or process" : ""),
                "run it on the host of mpiexec; under other launchers run zipmpi top on each host"},
               "zipmpi");
        return 1;
    }
    report({o.gateways ? "no gateway was found" : "no job was found", "host " + os::host_name(),
            std::string("no process that this user may inspect holds the memory of ") +
                (o.gateways ? "a gateway" : "a job") + (filtered ? " with this id or process" : ""),
            filtered ? "remove --job and --pid to see all"
                     : "start one with mpiexec or another launcher as the same user; the program must have "
                       "called MPI_Init"},
           "zipmpi");
    return 1;
}

} // namespace

int run_top(const TopOptions& o) {
    std::unique_ptr<TopView> view;
    if (o.gateways) {
        auto gateways = std::make_unique<GatewayView>(o);
        if (gateways->found()) view = std::move(gateways);
    } else {
        auto job = std::make_unique<JobView>(o, o.all_hosts ? find_remote_jobs(o) : find_local_jobs(o));
        if (job->found() && o.json) {
            print_json(*job, o.interval);
            return 0;
        }
        if (job->found()) view = std::move(job);
    }
    if (view == nullptr) return report_nothing_found(o);
    if (o.once || isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
        print_once(*view, o.interval);
    else
        run_interactive(*view, o.interval);
    return 0;
}

} // namespace zipmpi::tool
