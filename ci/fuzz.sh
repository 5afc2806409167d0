#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# libFuzzer on every parser of received bytes: ci/fuzz.sh [SECONDS], on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
# shellcheck source=ci/use_ccache.sh
. ci/use_ccache.sh
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target hostile_peer hostile_frame
corpus=build/fuzz/corpus
mkdir -p "$corpus"
cd build/fuzz
./tests/fuzz/hostile_frame -max_total_time=$((seconds / 10 + 1)) -max_len=512 -print_final_stats=1 >fuzz-frame.log 2>&1 || { tail -n 60 fuzz-frame.log; exit 1; }
pids=()
for core in 1 2; do
    ./tests/fuzz/hostile_peer -max_total_time="$seconds" -max_len=2048 -timeout=20 -print_final_stats=1 corpus >"fuzz-$core.log" 2>&1 &
    pids+=($!)
done
for i in "${!pids[@]}"; do
    if ! wait "${pids[i]}"; then
        tail -n 60 "fuzz-$((i + 1)).log"
        exit 1
    fi
done
grep -h 'stat::number_of_executed_units' fuzz-*.log
