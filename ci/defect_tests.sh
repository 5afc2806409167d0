#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/defect_tests.sh [BUILD_DIR]
# Builds the explorers and simulations with injected defects in an existing build without sanitizers (default build/release), whose
# preset leaves them out, and runs them: each must find its defect.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
cmake -S . -B "$build" -DZIPMPI_DEFECT_TESTS=ON >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target defect_tests >"$build/defect_tests.log" 2>&1 || {
    tail -n 100 "$build/defect_tests.log"
    exit 1
}
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" -L '^defects$'
