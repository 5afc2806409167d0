#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/build_and_test.sh PRESET [ctest options]
# Configures, builds and tests one preset of CMakePresets.json. The whole output of ctest is kept in
# build/PRESET/ctest.log.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_SLOPPINESS=pch_defines,time_macros # precompiled headers are kept, too
fi
mkdir -p "build/$preset"
cmake --preset "$preset" >"build/$preset/configure.log" 2>&1 || {
    cat "build/$preset/configure.log"
    exit 1
}
cmake --build "build/$preset" --parallel "$(nproc)" >"build/$preset/build.log" 2>&1 || {
    tail -n 100 "build/$preset/build.log"
    exit 1
}
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error "$@" | tee "build/$preset/ctest.log"
