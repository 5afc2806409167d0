#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/clean_root_build.sh [--template ROOT] [--options CMAKE_OPTIONS] [COMPILER...]
# Builds ZipMPI's last commit from source on a fresh Debian 12 by the commands of README.md, with the packages of
# ci/packages_build.txt and nothing else, once for each COMPILER (g++, clang-14, clang-19: all), runs the unit tests,
# installs, and runs README.md's program. CMAKE_OPTIONS (-DZIPMPI_TESTS=OFF) go to `cmake --preset release`. As root; needs
# debootstrap and a mirror. A ROOT made by debootstrap is copied, not changed. Takes an hour on two cores, so it is not part
# of .ci/run; the last result is in docs/dev/testing.md. Status 77: not possible here.
set -euo pipefail
cd "$(dirname "$0")/.."
template=
options=
while [ $# -gt 0 ]; do
    case $1 in
    --template) template=$2; shift 2 ;;
    --options) options=$2; shift 2 ;;
    *) break ;;
    esac
done
compilers=("$@")
[ $# -gt 0 ] || compilers=(g++ clang-14 clang-19)
# shellcheck source=ci/clean_root_functions.sh
. ci/clean_root_functions.sh
make_root "$template"
failed=0
prologue='set -euxo pipefail
command -v sudo >/dev/null || sudo() { "$@"; }
cd /source'
build=$(python3 -B ci/readme_commands.py build)
install=$(python3 -B ci/readme_commands.py install)
build=${build/cmake --preset release/cmake --preset release $options}
git clone --quiet . "$root/source"
inside apt-get -qq update

phase() { # name, commands: adds the seconds to `row`, ends the round on failure
    local begin=$SECONDS
    if ! inside env ${extra:+"${extra[@]}"} bash -c "$prologue
$2" >"$scratch/$1.log" 2>&1; then
        tail -n 40 "$scratch/$1.log"
        row+=" $1 failed |"
        failed=1
        return 1
    fi
    row+=" $((SECONDS - begin)) |"
}

rows=()
for compiler in "${compilers[@]}"; do
    extra=()
    row="| $compiler | $(git rev-parse --short HEAD) | $(date -u +%F) | ${options:-none} |"
    if [ "$compiler" != g++ ]; then
        inside apt-get -qq -y install --no-install-recommends "$compiler" >/dev/null
        extra=(CC="$compiler" CXX="${compiler/clang/clang++}")
    fi
    rm -rf "$root/source/build" "$root/opt/zipmpi"
    if phase build "$build"; then
        if [[ $options != *ZIPMPI_TESTS=OFF* ]]; then phase test 'ctest --test-dir build/release -L unit -j2' || true; else row+=" - |"; fi
        phase install "$install" || true
        warnings=$(grep -c 'warning:' "$scratch/build.log") || true
        [ "$warnings" = 0 ] || { failed=1; grep 'warning:' "$scratch/build.log" | sort | uniq -c | head -20; }
        row+=" $warnings |"
        grep -qx 'rank 3 of 4' "$scratch/install.log" || { failed=1; tail "$scratch/install.log"; }
    fi
    rows+=("$row")
done
echo "| compiler | commit | date | options | packages, configuring, building (s) | unit tests (s) | installing, first program (s) | warnings |"
printf '%s\n' "${rows[@]}"
exit $failed
