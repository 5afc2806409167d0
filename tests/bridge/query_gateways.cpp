// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that reads the keys published by the gateways, a given number of times, and prints their epochs. It
// fences in between: gateways do not take part in fences.
#include "boot/job.hpp"
#include "bridge/cluster_map.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace zipmpi;

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    boot::Job job;
    Diagnostic why;
    bridge::ClusterMap cluster_map;
    const char* text = std::getenv(bridge::cluster_map_variable);
    if (text == nullptr || !bridge::parse(text, cluster_map) || !boot::start(environ, job, why)) return 1;
    for (int round = 0; round < rounds; ++round) {
        if (round > 0) usleep(100'000);
        if (!job.launcher->fence()) return 2;
        std::string line = "epochs";
        for (const bridge::GatewaySpec& g : cluster_map.gateways) {
            std::string number;
            std::string epoch;
            const int id = bridge::gateway_id(job.size, g.number);
            if (!job.launcher->get(id, "number", number) || !job.launcher->get(id, "epoch", epoch)) return 3;
            if (number != std::to_string(g.number)) return 4;
            line += " " + epoch;
        }
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
    }
    job.launcher->finalize();
}
