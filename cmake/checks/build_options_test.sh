#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: build_options_test.sh SOURCE_DIR
# Results of ZIPMPI_WITH_...: OFF is off, ON stops if the part is missing and names its package, other values are rejected.
# Nothing is built; ci/option_matrix.sh builds each combination.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
source=$1
says() {
    tr '\n' ' ' <"$scratch/log" | sed 's/  */ /g' | grep -qF -- "$1" && return
    echo "FAILED: '$1' is not in:"
    cat "$scratch/log"
    failures=$((failures + 1))
}

off=
for part in UCX OFI PMIX HWLOC SCOTCH METIS OTF2 FORTRAN; do off="$off -DZIPMPI_WITH_$part=OFF"; done
# shellcheck disable=SC2086
cmake -S "$source" -B "$scratch/build" -G Ninja -DZIPMPI_TESTS=OFF $off >"$scratch/log" 2>&1 || failures=$((failures + 1))
for part in UCX OFI PMIX HWLOC SCOTCH METIS OTF2 FORTRAN; do says "$part off: no "; done
says "warnings are errors OFF"

missing() { cmake -S "$source" -B "$scratch/build" -DCMAKE_DISABLE_FIND_PACKAGE_METIS=ON "-DZIPMPI_WITH_METIS=$1" >"$scratch/log" 2>&1; }
missing AUTO || failures=$((failures + 1))
says "METIS not found, Debian: libmetis-dev: no "
missing ON && failures=$((failures + 1))
says "ZIPMPI_WITH_METIS is ON, but METIS was not found."
says "Debian: libmetis-dev"
missing perhaps && failures=$((failures + 1))
says "ZIPMPI_WITH_METIS=perhaps is not known: write ON, OFF or AUTO."

[ "$failures" -eq 0 ] && echo "build options: all as expected"
exit "$failures"
