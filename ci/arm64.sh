#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/arm64.sh [--template ROOT] [CTEST_OPTION...]
# Builds ZipMPI's last commit for arm64 by the cross compiler of a fresh Debian 12 and runs the unit tests there under
# qemu-user. What it does not show: memory order, because qemu on x86-64 has that of x86-64. As root; needs debootstrap
# and a mirror. A ROOT made by debootstrap is copied, not changed. Not part of .ci/run; the last result is in
# docs/dev/testing.md. Status 77: not possible here.
set -euo pipefail
cd "$(dirname "$0")/.."
template=
if [ "${1:-}" = --template ]; then template=$2; shift 2; fi
# shellcheck source=ci/clean_root_functions.sh
. ci/clean_root_functions.sh
make_root "$template"
git clone --quiet . "$root/source"

# Libraries of the other architecture, programs of this one. Headers of libcli11-dev and nlohmann-json3-dev serve both.
mapfile -t packages < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' -e '/^libcli11-dev$/!s/^\(lib.*-dev\)$/\1:arm64/' \
    -e '/^g++$/d' -e '/^gfortran$/d' -e '/^pkg-config$/d' ci/packages_build.txt)
inside dpkg --add-architecture arm64
if ! inside apt-get -qq update || ! inside apt-cache show libc6:arm64 >"$scratch/index.log" 2>&1; then
    echo "arm64: skipped: the mirror has no packages of arm64"
    exit 77
fi
inside apt-get -qq -y install --no-install-recommends crossbuild-essential-arm64 gfortran-aarch64-linux-gnu \
    qemu-user-static pkgconf:arm64 "${packages[@]}" >"$scratch/packages.log" 2>&1 || { tail "$scratch/packages.log"; exit 1; }
echo "arm64: packages $SECONDS s"

step() { # name, command...
    local name=$1 begin=$SECONDS
    shift
    if ! inside "$@" >"$scratch/$name.log" 2>&1; then
        tail -n 40 "$scratch/$name.log"
        echo "arm64: $name failed"
        exit 1
    fi
    echo "arm64: $name $((SECONDS - begin)) s"
}

step configure cmake -S /source --preset release -B /source/build/arm64 \
    -DCMAKE_TOOLCHAIN_FILE=/source/cmake/aarch64-linux-gnu.cmake
step build cmake --build /source/build/arm64 --parallel "$(nproc)" --target unit_tests mpi_abi
echo "arm64: $(grep -c 'warning:' "$scratch/build.log" || true) warnings"
file=$(inside find /source/build/arm64 -name 'libmpi_abi.so.1*' -type f | head -n 1)
inside aarch64-linux-gnu-readelf -h "$file" | grep -q AArch64 || { echo "arm64: $file is not for arm64"; exit 1; }
step test ctest --test-dir /source/build/arm64 -L unit -j "$(nproc)" --timeout 600 --output-on-failure "$@"
grep 'tests passed' "$scratch/test.log"
