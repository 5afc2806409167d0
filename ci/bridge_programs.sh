#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# The programs of tests/mpi over every cluster shape: a multihomed host, a pair of gateways, also with equal addresses in both
# clusters, an untrusted link, two paths, a chain of three clusters, a star of four, three around one host. About a minute each.
#
#   ci/bridge_programs.sh [BUILD [SHAPE...]]     default build/release, all; root
set -eu
root=$(dirname "$0")/..
build=$(realpath "${1:-$root/build/release}")
[ $# -gt 0 ] && shift
export TEST_MPIEXEC="$build/bin/mpiexec" CLUSTER_TOOL="$build/tests/multinode/host" TEST_MPI_FOLDER="$build/tests/mpi"
export TEST_BRIDGE_HELPERS="$build/tests/bridge" TEST_ROUNDS="${TEST_ROUNDS:-40}"
failed=""
[ $# -gt 0 ] || set -- z1 z2 z2o z2u z1x2 c3 s4 m3
for shape; do
    echo "== $shape"
    TEST_CLUSTERS=$shape python3 -B "$root/tests/bridge/test_mpi.py" || failed="$failed $shape"
done
[ -z "$failed" ] || {
    echo "failed:$failed"
    exit 1
}
