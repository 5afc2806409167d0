// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that asks for what the gateways have put, so many times: prints the epochs. Fences in between:
// gateways do not count in them.
#include "boot/job.hpp"
#include "bridge/grid.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace zipmpi;

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    boot::Job job;
    Problem why;
    bridge::Grid grid;
    const char* text = std::getenv(bridge::grid_variable);
    if (text == nullptr || !bridge::parse(text, grid) || !boot::start(environ, job, why)) return 1;
    for (int round = 0; round < rounds; ++round) {
        if (round > 0) usleep(100'000);
        if (!job.launcher->fence()) return 2;
        std::string line = "epochs";
        for (const bridge::GatewayPlace& g : grid.gateways) {
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
