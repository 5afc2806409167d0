#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/nightly.sh
# Stages too long for every commit, after .ci/run in the same checkout (uses build/release). All stages run, also after a
# failure. The last lines are for the table in docs/dev/testing.md: commit, date, CPU and seconds of each stage. Status 77 of
# a stage in `may_be_skipped` means that it is not possible here; of any other stage it is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
export CI=true # a test whose program is missing fails (tests/installed.py)
may_be_skipped=" gridengine softroce arm64 clean_root container torch "
rows=()
failed=0

stage() { # name, command...
    local name=$1 begin=$SECONDS result=passed
    shift
    echo
    echo "=== $name: $*"
    local status=0
    "$@" </dev/null || status=$?
    if [ $status -eq 77 ] && [[ $may_be_skipped == *" $name "* ]]; then
        result=skipped
    elif [ $status -ne 0 ]; then
        result=FAILED
        failed=1
    fi
    rows+=("| $name | $result | $((SECONDS - begin)) s |")
}

without_precompiled_headers() { # every source includes what it uses, checked with the other compiler
    cmake --preset clang -DZIPMPI_PRECOMPILE=OFF >/dev/null && cmake --build build/clang --parallel "$(nproc)"
}

stage includes without_precompiled_headers
stage headers python3 -B cmake/checks/self_contained_headers.py build/release
stage tidy ci/tidy.sh build/release
stage fuzz ci/fuzz.sh 600
stage asan ci/build_and_test.sh asan -LE 'lint|install|launchers|bench|wrapper|docs' -E 'tools\.doctor'
TARGETS="unit_tests mpi_tests" stage tsan ci/build_and_test.sh tsan -L 'unit|mpi' -E 'large_counts|^mpi\.cma_denied\.|rebinding'
stage soak ci/soak.sh build/release
stage hostile_connections python3 -B ci/hostile_connections.py
stage alterations ci/alterations.sh build/release
LIMIT=3600 stage softroce ci/softroce.sh
stage arm64 ci/arm64.sh
stage simulation ci/simulation.sh 1000000 1 build/release
stage bridge ci/bridge_programs.sh build/release
stage gridengine ci/gridengine_hosts.sh
stage engines ci/engines.sh build/release
stage package ci/package.sh build/release
stage reproducible ci/reproducible.sh
stage rpm ci/rpm.sh build/release
stage clean_root ci/clean_root.sh build/release/package
stage container ci/container.sh build/release/package
stage torch ci/torch.sh build/release/package

echo
echo "=== $(git rev-parse --short HEAD), $(date -u +%Y-%m-%d), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
printf '%s\n' "${rows[@]}"
exit "$failed"
