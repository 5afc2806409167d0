#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/slowest_tests.sh BUILD_DIR...
# The 20 slowest tests of the last run of ci/build_and_test.sh in these build folders, with their seconds.
set -euo pipefail
echo "=== the 20 slowest tests"
for build in "$@"; do
    [ -f "$build/ctest.log" ] || continue
    # 12/345 Test  #6: mpi.noncontig.2 .....   Passed    1.23 sec
    sed -nE "s|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*|\2 ${build##*/} \1|p" "$build/ctest.log"
done | sort -rn | awk 'NR <= 20' | while read -r seconds preset name; do printf '%7.1f s  %-8s %s\n' "$seconds" "$preset" "$name"; done
