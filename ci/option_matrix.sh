#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/option_matrix.sh [PART...]
# For each optional part (none, UCX, OFI, PMIX, HWLOC, SCOTCH, METIS, OTF2, FORTRAN): everything OFF except this one. Configures, builds
# library, launcher, tools and unit tests, runs the unit tests, and checks that exactly its modules were built. Warnings are
# errors. Uses ccache, and takes long without it, so it is not part of .ci/run. The last result is in docs/dev/testing.md.
set -euo pipefail
cd "$(dirname "$0")/.."
all=(UCX OFI PMIX HWLOC SCOTCH METIS OTF2 FORTRAN)
parts=("$@")
[ $# -gt 0 ] || parts=(none "${all[@]}")
# shellcheck source=ci/use_ccache.sh
. ci/use_ccache.sh
declare -A modules=([none]="" [UCX]="zipmpi_ucx.so" [OFI]="zipmpi_ofi.so" [PMIX]="zipmpi_pmix_client.so" [HWLOC]="zipmpi_topology.so"
    [SCOTCH]="zipmpi_graphs.so" [METIS]="zipmpi_graphs.so" [OTF2]="zipmpi_otf2.so" [FORTRAN]="fortran")
build=build/with # one folder for all: ccache hashes its path
failed=0
rows=()

try() { # part: prints the reason and returns 1 on failure
    local log=build/with_$1.log options=() made
    for name in "${all[@]}"; do options+=("-DZIPMPI_WITH_$name=$([ "$name" = "$1" ] && echo ON || echo OFF)"); done
    rm -rf "$build"
    mkdir -p build
    cmake --preset dev -B "$build" "${options[@]}" >"$log" 2>&1 && cmake --build "$build" --parallel "$(nproc)" --target zipmpi_product unit_tests >>"$log" 2>&1 || {
        tail -n 40 "$log"
        return 1
    }
    made=$(find "$build/lib/zipmpi" -mindepth 1 -maxdepth 1 -not -name zipmpi_msgq.so -printf '%f\n' 2>/dev/null | sort | tr '\n' ' ') || true
    [ "${made% }" = "${modules[$1]}" ] || {
        echo "with $1 the modules are '$made', expected '${modules[$1]}'"
        return 1
    }
    ctest --test-dir "$build" -L unit --output-on-failure --no-tests=error >>"$log" 2>&1 || {
        tail -n 60 "$log"
        return 1
    }
    passed=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log")
}

for part in "${parts[@]}"; do
    begin=$SECONDS
    if try "$part"; then
        rows+=("| $part | $(git rev-parse --short HEAD) | $(date -u +%F) | ${passed/ tests/ unit tests} | $((SECONDS - begin)) |")
    else
        failed=1
        rows+=("| $part | $(git rev-parse --short HEAD) | $(date -u +%F) | wrong | $((SECONDS - begin)) |")
    fi
    rm -rf "$build"
done
echo "| ON | commit | date | result | seconds |"
printf '%s\n' "${rows[@]}"
exit $failed
