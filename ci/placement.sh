#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Quality of placements: each pattern on each machine against 100000 random placements and N local optima (default
# 1000; 64 ranks take about a millisecond each). Prints the costs; fails if one exceeds 1.02 of the best.
#
#   ci/placement.sh [N] [build folder]
set -eu
cd "$(dirname "$0")/.."
PLACEMENT_DESCENTS=${1:-1000} "${2:-build/release}/src/mapping/mapping_test" --gtest_filter='*Quality*'
