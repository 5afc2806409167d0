#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/rpm.sh [BUILD_DIR]
# Packages a build as RPM packages, unpacks them into a temporary root and uses them from there. Not part of the tests.
# Debian package: rpm. Status 77: no rpmbuild.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(readlink -f "${1:-build/release}")
command -v rpmbuild >/dev/null || { echo "rpm: no rpmbuild (package rpm)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rpmbuild -bb --quiet --define "_topdir $scratch" --define "prebuilt $build" packaging/zipmpi.spec
packages=("$scratch"/RPMS/*/*.rpm)
[ ${#packages[@]} = 4 ] || { echo "rpm: ${#packages[@]} packages instead of 4"; exit 1; }
for package in "${packages[@]}"; do
    rpm -qp --qf '%{NAME} %{VERSION}: %{SIZE} bytes\n' "$package"
    mkdir -p "$scratch/root"
    (cd "$scratch/root" && rpm2archive - <"$package" | tar xz)
done
libs=("$scratch"/RPMS/*/zipmpi-libs-*.rpm)
if rpm -qp --requires "${libs[0]}" | grep -E 'libucp|libpmix|libhwloc|libscotch'; then
    echo "rpm: a library of a module is a hard dependency"
    exit 1
fi
if rpm -qp --provides "${packages[@]}" | grep -E 'libmpi\.so\.40|libmpich'; then
    echo "rpm: offers libraries of other MPIs"
    exit 1
fi
"$scratch/root/usr/bin/mpicc.zipmpi" tests/install/hello.c -o "$scratch/hello"
[ "$("$scratch/root/usr/bin/mpiexec.zipmpi" -n 4 "$scratch/hello" 4 2>&1)" = "hello from 4 ranks" ] || { echo "rpm: mpiexec.zipmpi"; exit 1; }
echo "rpm: the packages are good"
