#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/soak.sh [BUILD_DIR] [MESSAGES]
#        ci/soak.sh windows [BUILD_DIR] [OPERATIONS]
# Random messages (tests/mpi/random_messages) with a new seed in each run: MESSAGES in all (default 1000000) for each
# poll mode, each copy method, with one thread and with four. A failure prints its command, which has the seed.
# windows: random one-sided operations (tests/mpi/random_windows) instead, OPERATIONS for each seed (default 1000000),
# within a node and, as root, between two hosts of two ranks each (tests/multinode), with one thread and with three.
# SOAK_SEED=N begins with that seed, SOAK_LIMIT=N ends a run after N seconds (default 600; windows 7200).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
what=messages
if [ "${1:-}" = windows ]; then
    what=windows
    shift
fi
build=$(readlink -f "${1:-build/release}")
wanted=${2:-1000000}
seed=${SOAK_SEED:-$(date +%s)}
limit=${SOAK_LIMIT:-$([ $what = windows ] && echo 7200 || echo 600)}
program=$build/tests/mpi/random_$what
failures=0
[ -x "$program" ] || { echo "soak.sh: no program $program: build first"; exit 1; }

attempt() { # COMMAND...
    local begin=$SECONDS
    if timeout -k 5 "$limit" "$@" </dev/null; then
        echo "ok: $*, $((SECONDS - begin)) s"
    else
        echo "FAILED: $*"
        failures=$((failures + 1))
    fi
}

soak() { # RANKS THREADS SETTINGS...
    local ranks=$1 threads=$2 per_round=200
    shift 2
    seed=$((seed + 1))
    attempt env "$@" "$build/bin/mpiexec" -n "$ranks" "$program" "seed=$seed" "messages=$per_round" \
        "rounds=$((wanted / per_round / threads))" "threads=$threads"
}

soak_messages() {
    local design copy designs copies settings
    designs=(default)
    if grep -q ZIPMPI_SHM_POLL_MODE docs/guide/parameters.md; then
        designs+=(ZIPMPI_SHM_POLL_MODE=all_rings ZIPMPI_SHM_POLL_MODE=mpsc ZIPMPI_SHM_POLL_MODE=expected ZIPMPI_SHM_POLL_MODE=hybrid)
    fi
    copies=(default ZIPMPI_P2P_CMA_MIN=1 ZIPMPI_CMA_ENABLE=no "ZIPMPI_P2P_EAGER_LIMIT=64 ZIPMPI_CMA_ENABLE=no")
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
}

# A round of four ranks has about 24 operations.
soak_windows() {
    local threads over_hosts settings
    # shellcheck disable=SC2016 # expanded on the first host
    over_hosts='exec "$0" -n 4 --host n1:2,n2:2 --launch-agent "$CLUSTER_AGENT" "$@"'
    for threads in 1 3; do
        seed=$((seed + 1))
        settings=("seed=$seed" "rounds=$((wanted / 24 / threads))" "threads=$threads" progress=5000)
        attempt "$build/bin/mpiexec" -n 4 "$program" "${settings[@]}"
        if [ "$(id -u)" -eq 0 ]; then
            CLUSTER_TOOL=$build/tests/multinode/host attempt python3 -B tests/multinode/cluster.py run 2 \
                sh -c "$over_hosts" "$build/bin/mpiexec" "$program" "${settings[@]}"
        else
            echo "not between hosts: only root can create them"
        fi
    done
}

soak_$what
echo "soak.sh: $failures failures, $SECONDS s"
[ $failures -eq 0 ]
