#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/package.sh [BUILD_DIR]
# Builds the Debian package, checks it with lintian, checks its contents, unpacks it into a temporary root and uses it from there.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} # reproducible: equal bytes from one commit
export SOURCE_DATE_EPOCH

die() {
    echo "package: $*"
    exit 1
}

(cd "$build" && cpack -G DEB -B "$scratch/out" >"$scratch/cpack.log" 2>&1) || {
    cat "$scratch/cpack.log"
    exit 1
}
package=$(find "$scratch/out" -maxdepth 1 -name 'zipmpi_*.deb')
[ -f "$package" ] || die "cpack built no package"
dpkg-deb -I "$package"
dpkg-deb -c "$package" | tee "$scratch/contents"

# Required and forbidden contents.
while read -r path; do
    grep -qE " \./${path}( -> .*)?$" "$scratch/contents" || die "$path is not in the package"
done <<'PATHS'
usr/bin/mpicc\.zipmpi
usr/bin/mpicxx\.zipmpi
usr/bin/mpifort\.zipmpi
usr/bin/mpiexec\.zipmpi
usr/bin/mpirun\.zipmpi
usr/bin/zipmpi
usr/lib/zipmpi/bin/mpicc
usr/lib/zipmpi/bin/mpicxx
usr/lib/zipmpi/bin/mpiexec
usr/lib/zipmpi/bin/mpirun
usr/lib/zipmpi/include/mpi\.h
usr/lib/zipmpi/include/mpi-ext\.h
usr/lib/zipmpi/include/mpif\.h
usr/lib/zipmpi/lib/libmpifort_abi\.so\.1
usr/lib/zipmpi/lib/zipmpi/fortran/mpi_f08\.mod
usr/lib/zipmpi/share/zipmpi/fortran/build_modules\.sh
usr/lib/zipmpi/lib/libmpi_abi\.so\.1
usr/lib/zipmpi/lib/libmpi_abi\.so
usr/lib/zipmpi/lib/libmpi\.so
usr/lib/zipmpi/lib/libmpi_abi\.a
usr/lib/zipmpi/lib/pkgconfig/zipmpi\.pc
usr/lib/zipmpi/lib/pkgconfig/mpi-c\.pc
usr/lib/zipmpi/lib/pkgconfig/mpi-cxx\.pc
usr/lib/zipmpi/lib/pkgconfig/mpi-fort\.pc
usr/lib/zipmpi/lib/pkgconfig/ompi-c\.pc
usr/lib/zipmpi/bin/mpicc_abi
usr/share/doc/zipmpi/copyright
usr/share/doc/zipmpi/changelog\.gz
usr/share/man/man1/mpicc\.zipmpi\.1\.gz
usr/lib/zipmpi/share/man/man1/mpiexec\.1
usr/lib/zipmpi/share/man/man3/MPI_Send\.3
usr/lib/zipmpi/share/man/man7/zipmpi-parameters\.7
usr/lib/zipmpi/share/zipmpi/bench/compare
PATHS
if awk '{print $6}' "$scratch/contents" | grep -vE '^\./(usr/(bin/[a-z]*(\.zipmpi)?|lib/(zipmpi/.*)?|share/((doc|lintian|man)/.*)?)?)?$'; then
    die "files outside /usr/lib/zipmpi and the folders that Debian's policy requires"
fi
if awk '{print $2}' "$scratch/contents" | grep -vx root/root; then die "files not owned by root"; fi
if awk '$1 !~ /^l/ {print $1}' "$scratch/contents" | grep -E '^.{8}w'; then die "world-writable files"; fi
recommends=$(dpkg-deb -f "$package" Recommends)
for name in libpmix2 libhwloc15 libscotch-7.0 libmetis5; do
    [[ $recommends == *$name* ]] || die "$name is not recommended"
    [[ $(dpkg-deb -f "$package" Depends) != *$name* ]] || die "$name is a hard dependency; its module is loaded on demand"
done
[[ $(dpkg-deb -f "$package" Depends) == *libc6* ]] || die "no dependencies found"
lintian --allow-root --tag-display-limit 0 --fail-on error "$package" || die "lintian reports errors"

dpkg-deb -x "$package" "$scratch/root"
find "$scratch/root" -type f -exec sh -c 'file -b "$1" | grep -q "not stripped"' _ {} \; -print | grep . && die "not stripped"
bash tests/install/install_test.sh "$build" "$scratch/root/usr/lib/zipmpi"
"$scratch/root/usr/bin/mpicc.zipmpi" tests/install/hello.c -o "$scratch/hello"
[ "$("$scratch/root/usr/bin/mpiexec.zipmpi" -n 4 "$scratch/hello" 4 2>&1)" = "hello from 4 ranks" ] || die "mpiexec.zipmpi"
mkdir -p "$build/package"
cp "$package" "$build/package/"
echo "package: $build/package/$(basename "$package") is good"
