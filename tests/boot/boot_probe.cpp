// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Starts as a rank does, prints its findings in one line, and checks all of boot: an exchange through the
// launcher and a segment shared by all ranks of the host. Exit status 0 only if every check passed.
//
//   boot_probe [expected size [expected protocol]]
#include "base/param.hpp"
#include "boot/job.hpp"
#include "os/clock.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace zipmpi;

namespace {

int fail(const boot::Job& job, const char* what) {
    std::fprintf(stderr, "boot_probe: rank %d of %d: %s\n", job.rank, job.size, what);
    return 3;
}

bool exchange(boot::Job& job) {
    if (!job.launcher) return true;
    const std::string long_tail(boot::Launcher::value_limit - 16, 'x');
    const auto value_of = [&](int rank) { return "card-" + std::to_string(rank) + "-" + long_tail; };
    if (!job.launcher->put("card", value_of(job.rank)) || !job.launcher->fence()) return false;
    for (const int peer : {(job.rank + 1) % job.size, (job.rank + job.size - 1) % job.size}) {
        std::string value;
        if (!job.launcher->get(peer, "card", value) || value != value_of(peer)) return false;
    }
    return true;
}

// Every rank writes its pid into its block; a rank that reads all of them shares one segment with them.
bool all_share_segment(const boot::Job& job, segment::NodeSegment& segment) {
    if (segment.local_ranks() != job.node_ranks.size()) return false;
    segment.block(static_cast<uint32_t>(job.local_index)).pid.store(getpid());
    for (uint32_t i = 0; i < segment.local_ranks(); ++i) {
        const uint64_t deadline = os::now_ns() + 20'000'000'000;
        while (segment.block(i).pid.load() == 0) {
            if (os::now_ns() > deadline) return false;
            usleep(1000);
        }
        if (segment.world_rank(i) != job.node_ranks[i]) return false;
    }
    return true;
}

void show(const boot::Job& job) {
    std::string nodes;
    for (const int r : job.node_ranks) nodes += (nodes.empty() ? "" : ",") + std::to_string(r);
    std::printf("rank %d of %d protocol \"%s\" node_ranks %s appnum %d universe %d id %s how %s\n", job.rank,
                job.size, std::string(boot::protocol_name(job.protocol)).c_str(), nodes.c_str(),
                job.app_number, job.universe_size, job.id.c_str(), job.how.c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    Diagnostic why;
    for (const ParamError& f : load_params(environ)) report({"bad setting", f.origin, f.why, f.fix});
    boot::Job job;
    segment::NodeSegment segment;
    if (!boot::start(environ, job, why) || !boot::join_segment(job, segment, why)) {
        report(why);
        return 2;
    }
    if (argc > 1 && std::atoi(argv[1]) != job.size) return fail(job, "not the expected size");
    if (argc > 2 && boot::protocol_name(job.protocol) != argv[2])
        return fail(job, "not the expected protocol");
    if (!exchange(job)) return fail(job, "put, fence and get failed");
    if (!all_share_segment(job, segment)) return fail(job, "the ranks do not share one segment");
    if (std::getenv("BOOT_PROBE_ABORT") != nullptr && job.rank == job.size - 1 && job.launcher) {
        job.launcher->abort(7, "asked for");
        return fail(job, "abort returned");
    }
    show(job);
    if (job.launcher) job.launcher->finalize();
    return 0;
}
