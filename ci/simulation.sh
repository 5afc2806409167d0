#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# Runs seeds of tests/simulation: ci/simulation.sh [SEEDS [FIRST [BUILD]]], default 1000000, 1, build/release; SEEDS of each scenario.
# Prints the seeds per second. A violation prints the command that repeats it.
set -eu
cd "$(dirname "$0")/.."
seeds=${1:-1000000}
first=${2:-1}
simulate=${3:-build/release}/tests/simulation/simulate
for scenario in bridge control; do
    begin=$(date +%s)
    "$simulate" $scenario "$first" "$seeds"
    seconds=$(($(date +%s) - begin + 1))
    echo "$scenario: $seconds s, $((seeds / seconds)) seeds per second"
done
