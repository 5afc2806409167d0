#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/soak.sh [BUILD_DIR] [MESSAGES]
# Random messages (tests/mpi/random_messages) with a new seed in each run: MESSAGES in all (default 1000000) for each
# design of queues, each way of copying, with one thread and with four. A failure prints its command, which has the seed.
# SOAK_SEED=N begins with that seed, SOAK_LIMIT=N ends a run after N seconds (default 600).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=${1:-build/release}
messages=${2:-1000000}
seed=${SOAK_SEED:-$(date +%s)}
limit=${SOAK_LIMIT:-600}
program=$build/tests/mpi/random_messages
[ -x "$program" ] || { echo "soak.sh: no program $program: build first"; exit 1; }

designs=(default)
if grep -q ZIPMPI_SHM_QUEUES docs/guide/knobs.md; then
    designs+=(ZIPMPI_SHM_QUEUES=pairs ZIPMPI_SHM_QUEUES=shared ZIPMPI_SHM_QUEUES=expected ZIPMPI_SHM_QUEUES=watched)
fi
copies=(default ZIPMPI_P2P_KCOPY_MIN=1 ZIPMPI_KCOPY_USE=no "ZIPMPI_P2P_EAGER_LIMIT=64 ZIPMPI_KCOPY_USE=no")
failures=0

soak() { # RANKS THREADS SETTINGS...
    local ranks=$1 threads=$2 begin=$SECONDS per_round=200
    shift 2
    seed=$((seed + 1))
    local command=(env "$@" "$build/bin/mpiexec" -n "$ranks" "$program" "seed=$seed" "messages=$per_round"
        "rounds=$((messages / per_round / threads))" "threads=$threads")
    if timeout -k 5 "$limit" "${command[@]}" </dev/null; then
        echo "ok: ${command[*]}, $((SECONDS - begin)) s"
    else
        echo "FAILED: ${command[*]}"
        failures=$((failures + 1))
    fi
}

for design in "${designs[@]}"; do
    for copy in "${copies[@]}"; do
        settings=()
        [ "$design" = default ] || settings+=("$design")
        # shellcheck disable=SC2206 # two settings in one word
        [ "$copy" = default ] || settings+=($copy)
        soak 2 1 "${settings[@]}"
        soak 4 1 "${settings[@]}"
        soak 2 4 "${settings[@]}"
    done
done
echo "soak.sh: $failures failures, $SECONDS s"
[ $failures -eq 0 ]
