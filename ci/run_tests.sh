#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/run_tests.sh PRESET [ctest options]
# Runs the tests of an existing build/PRESET: one per CPU at a time, except those that need all CPUs. The output of ctest is
# kept in build/PRESET/ctest.log.
# Up to three failed tests run once more, one at a time. Those that pass then are unstable: build/PRESET/unstable.txt has their
# names and the end of their failed output, and .ci/run shows it. Sanitizer findings and missed wakeups count even if they do
# not recur: such a test is not repeated.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=build/$preset/ctest.log
unstable=build/$preset/unstable.txt
list=build/$preset/Testing/Temporary/LastTestsFailed.log
rm -f "$unstable" "$list"
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@" | tee "$log" && exit
failed=$(grep -c . "$list" 2>/dev/null || true)
[ "${failed:-0}" -ge 1 ] && [ "$failed" -le 3 ] || exit 1
if grep -qE '(Address|Thread|Leak|Memory)Sanitizer|: runtime error: |a wakeup was missing' "$log"; then exit 1; fi
first=$(ci/failures.py "$log")
echo "=== once more, one at a time"
ctest --test-dir "build/$preset" --output-on-failure --rerun-failed | tee -a "$log" || exit 1
echo "$first" >"$unstable"
