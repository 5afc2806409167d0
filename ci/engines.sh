#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/engines.sh [BUILD_DIR [ENGINE...]]
# The programs of tests/mpi over hosts and over clusters with each network engine that `auto` does not select on emulated hosts:
# ucx, ofi. A sample is in ctest. As root; some minutes for each.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(readlink -f "${1:-build/release}")
shift || true
[ $# -gt 0 ] || set -- ucx ofi
export TEST_MPIEXEC=$build/bin/mpiexec CLUSTER_TOOL=$build/tests/multinode/host TEST_MPI_FOLDER=$build/tests/mpi
export TEST_ROUNDS=${TEST_ROUNDS:-40} TEST_SECONDS=${TEST_SECONDS:-120}
failed=()

for engine; do
    export TEST_ENGINE=$engine
    for shape in 2x1 2x4 4x2; do
        echo "== $engine, $shape"
        TEST_SHAPE=$shape python3 -B tests/multinode/test_mpi.py || failed+=("$engine $shape")
    done
    ci/bridge_programs.sh "$build" z1 z2 c3 s4 || failed+=("$engine between clusters")
done
echo "engines: ${#failed[@]} failures, $SECONDS s"
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
