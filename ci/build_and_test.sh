#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/build_and_test.sh PRESET [ctest options]
# Configures, builds and tests one preset of CMakePresets.json, with ccache where it is installed.
# TARGETS="..." in the environment: builds only these, for tests that need nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

# shellcheck source=ci/use_ccache.sh
. ci/use_ccache.sh
mkdir -p "build/$preset"
cmake --preset "$preset" >"build/$preset/configure.log" 2>&1 || {
    cat "build/$preset/configure.log"
    exit 1
}
# shellcheck disable=SC2086 # several words
cmake --build "build/$preset" --parallel "$(nproc)" ${TARGETS:+--target $TARGETS} >"build/$preset/build.log" 2>&1 || {
    tail -n 100 "build/$preset/build.log"
    exit 1
}
ci/run_tests.sh "$preset" "$@"
