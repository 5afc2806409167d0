// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that only uses its launcher: puts a value, fences, and gets those of all other ranks, several times.
// Prints one line if everything is right.
#include "boot/job.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace zipmpi;

namespace {

std::string value_of(int rank, int round) { return "v" + std::to_string(rank * 1000 + round); }

int report_error(const char* what) {
    std::fprintf(stderr, "exchange: %s\n", what);
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
    boot::Job job;
    Diagnostic why;
    if (!boot::start(environ, job, why)) {
        report(why);
        return 1;
    }
    for (int round = 0; round < rounds; ++round) {
        const std::string key = "card" + std::to_string(round);
        if (!job.launcher->put(key, value_of(job.rank, round))) return report_error("put failed");
        if (!job.launcher->fence()) return report_error("fence failed");
        std::string value;
        for (int r = 0; r < job.size; ++r) {
            if (!job.launcher->get(r, key, value)) return report_error("get failed");
            if (value != value_of(r, round)) return report_error("get returned a wrong value");
        }
        if (job.launcher->get((job.rank + 1) % job.size, "key-that-was-not-put", value))
            return report_error("get found a missing key");
    }
    job.launcher->finalize();
    const char* node = std::getenv("ZIPMPI_NODE_INDEX");
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    std::printf("rank %d of %d on node %s, host %s, local index %d\n", job.rank, job.size,
                node != nullptr ? node : "-", host, job.local_index);
    return 0;
}
