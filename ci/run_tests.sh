#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/run_tests.sh PRESET [ctest options]
# Runs the tests of build/PRESET, which is built: as many at once as there are CPUs, except those that need all of them.
# The whole output of ctest is kept in build/PRESET/ctest.log.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@" | tee "build/$preset/ctest.log"
