// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a simulated job once for each of COUNT seeds:
//
//   simulate SCENARIO FIRST COUNT [VIOLATIONS]   ends after this number of violations, by default 3
//   simulate SCENARIO replay SEED                one seed, with its faults
//
// Prints the number of runs and each violation with the command that repeats it. Exit status 1 if there was
// one.
#include "scenarios.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace zipmpi::simulation;

int main(int argc, char** argv) {
    const Scenario* const scenario = argc == 4 || argc == 5 ? find_scenario(argv[1]) : nullptr;
    if (scenario == nullptr) {
        std::fprintf(
            stderr,
            "usage: simulate SCENARIO FIRST COUNT [VIOLATIONS] | simulate SCENARIO replay SEED\nscenarios:");
        for (const Scenario& s : scenarios()) std::fprintf(stderr, " %s", s.name);
        std::fprintf(stderr, "\n");
        return 2;
    }
    const bool replay = std::strcmp(argv[2], "replay") == 0;
    const uint64_t first = std::strtoull(argv[replay ? 3 : 2], nullptr, 10);
    const uint64_t count = replay ? 1 : std::strtoull(argv[3], nullptr, 10);
    const int enough = argc == 5 ? std::atoi(argv[4]) : 3;
    int violations = 0;
    uint64_t seed = first;
    for (; seed < first + count && violations < enough; ++seed) {
        const std::string violation = scenario->run(seed, replay ? Trace::printed : Trace::off);
        if (violation.empty()) continue;
        ++violations;
        std::printf("VIOLATION %s\n  repeat by: %s %s replay %llu\n", violation.c_str(), argv[0],
                    scenario->name, static_cast<unsigned long long>(seed));
    }
    std::printf("%s: %llu seeds from %llu, %d violations\n", scenario->name,
                static_cast<unsigned long long>(seed - first), static_cast<unsigned long long>(first),
                violations);
    return violations == 0 ? 0 : 1;
}
