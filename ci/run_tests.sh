#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/run_tests.sh PRESET [ctest options]
# Runs the tests of build/PRESET, which is built: as many at once as there are CPUs, except those that need all of them.
# The whole output of ctest is kept in build/PRESET/ctest.log.
# Up to three tests that fail run once more, one at a time. Those that pass then are unstable: build/PRESET/unstable.txt has
# their names and the end of what each printed when it failed, and .ci/run shows it. What a sanitizer has found, or a wake-up
# that was missing, is there whether or not it shows again: such a test does not get a second try.
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
if grep -qE '(Address|Thread|Leak|Memory)Sanitizer|: runtime error: |a wake-up was missing' "$log"; then exit 1; fi
first=$(ci/failures.py "$log")
echo "=== once more, one at a time"
ctest --test-dir "build/$preset" --output-on-failure --rerun-failed | tee -a "$log" || exit 1
echo "$first" >"$unstable"
