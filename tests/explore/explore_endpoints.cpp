// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a short exchange between two bridge endpoints once for every placement of up to FAULTS faults.
//
//   explore_endpoints FAULTS [SCENARIO|all [STEP]]             STEP: only every STEP-th point
//   explore_endpoints replay SCENARIO POINT:FAULT[,POINT:FAULT]
//
// Prints the number of runs and each violation with its faults; stops after the first few. Exit status 1 if
// there was a violation.
#include "two_endpoints.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace zipmpi::bridge::explore;

namespace {

constexpr long enough_violations = 20;
long runs = 0, violations = 0;

int run_once(const Scenario& scenario, const std::vector<PlacedFault>& faults) {
    const Result result = run(scenario, faults);
    ++runs;
    if (!result.violation.empty()) {
        ++violations;
        std::printf("VIOLATION %s", scenario.name);
        for (const PlacedFault& p : faults) std::printf(" %d:%s", p.point, name(p.fault));
        std::printf(": %s\n", result.violation.c_str());
    }
    return result.points;
}

void place_faults(const Scenario& scenario, std::vector<PlacedFault>& faults, size_t most, int step) {
    const int points = run_once(scenario, faults);
    if (faults.size() == most) return;
    for (int point = faults.empty() ? 0 : faults.back().point + 1; point < points; point += step)
        for (int kind = 0; kind < fault_kinds; ++kind) {
            if (violations >= enough_violations) return;
            faults.push_back({point, static_cast<Fault>(kind)});
            place_faults(scenario, faults, most, step);
            faults.pop_back();
        }
}

bool parse_faults(const char* text, std::vector<PlacedFault>& faults) {
    while (*text != '\0') {
        char* rest = nullptr;
        const int point = static_cast<int>(std::strtol(text, &rest, 10));
        if (*rest != ':') return false;
        const size_t length = std::strcspn(++rest, ",");
        int kind = 0;
        while (kind < fault_kinds && (std::strlen(name(static_cast<Fault>(kind))) != length ||
                                      std::strncmp(rest, name(static_cast<Fault>(kind)), length) != 0))
            ++kind;
        if (kind == fault_kinds) return false;
        faults.push_back({point, static_cast<Fault>(kind)});
        text = rest + length + (rest[length] == ',' ? 1 : 0);
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr,
                     "usage: explore_endpoints FAULTS [SCENARIO [STEP]] | replay SCENARIO POINT:FAULT,...\n");
        return 2;
    }
    const bool replay = std::strcmp(argv[1], "replay") == 0;
    const char* const only = argc > 2 ? argv[2] : "all";
    std::vector<PlacedFault> faults;
    if (replay && (argc < 4 || !parse_faults(argv[3], faults))) {
        std::fprintf(stderr, "explore_endpoints: invalid list of faults\n");
        return 2;
    }
    for (const Scenario& scenario : scenarios()) {
        if (std::strcmp(only, "all") != 0 && std::strcmp(only, scenario.name) != 0) continue;
        const long before = runs;
        if (replay)
            std::printf("%d points\n", run_once(scenario, faults));
        else
            place_faults(scenario, faults, static_cast<size_t>(std::atoi(argv[1])),
                         argc > 3 ? std::atoi(argv[3]) : 1);
        std::printf("%s: %ld runs\n", scenario.name, runs - before);
    }
    std::printf("all: %ld runs, %ld violations\n", runs, violations);
    return runs > 0 && violations == 0 ? 0 : 1;
}
