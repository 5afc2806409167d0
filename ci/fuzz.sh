#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# libFuzzer on the readers of received bytes of tests/fuzz: ci/fuzz.sh [SECONDS], on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
# shellcheck source=ci/use_ccache.sh
. ci/use_ccache.sh
cmake --preset fuzz >/dev/null
others="hostile_frame hostile_endpoint hostile_control hostile_rank hostile_stream hostile_frame_stream hostile_forwarder"
# shellcheck disable=SC2086
cmake --build build/fuzz --target hostile_peer $others
cd build/fuzz
kept=../../tests/fuzz/corpus
for target in $others; do
    mkdir -p "corpus/$target"
    ./tests/fuzz/$target -max_total_time=$((seconds / 10 + 1)) -max_len=2048 -timeout=20 -print_final_stats=1 "corpus/$target" "$kept/$target" \
        >"fuzz-$target.log" 2>&1 || { tail -n 60 "fuzz-$target.log"; exit 1; }
done
mkdir -p corpus/hostile_peer
pids=()
for core in 1 2; do
    ./tests/fuzz/hostile_peer -max_total_time="$seconds" -max_len=2048 -timeout=20 -print_final_stats=1 corpus/hostile_peer "$kept/hostile_peer" >"fuzz-$core.log" 2>&1 &
    pids+=($!)
done
for i in "${!pids[@]}"; do
    if ! wait "${pids[i]}"; then
        tail -n 60 "fuzz-$((i + 1)).log"
        exit 1
    fi
done
grep -h 'stat::number_of_executed_units' fuzz-*.log
