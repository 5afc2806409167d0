#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/package.sh [BUILD_DIR]
# Packages a build as Debian packages, twice with equal bytes, checks them with lintian, checks their contents, unpacks them into
# a temporary root and uses them from there. Status 77: no debhelper.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(readlink -f "${1:-build/release}")
command -v dh >/dev/null || { echo "package: no dh (package debhelper)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
    echo "package: $*"
    exit 1
}

build_packages() { # number
    mkdir -p "$scratch/$1/zipmpi"
    cp -r debian "$scratch/$1/zipmpi"
    (cd "$scratch/$1/zipmpi" && ZIPMPI_PREBUILT=$build dpkg-buildpackage -b -us -uc -d >"$scratch/log.$1" 2>&1) ||
        { cat "$scratch/log.$1"; exit 1; }
    (cd "$scratch/$1" && sha256sum ./*.deb) >"$scratch/sums.$1"
}
build_packages 1 &
build_packages 2
wait $! || die "the first run failed"
diff "$scratch/sums.1" "$scratch/sums.2" || die "two runs produced different packages"
packages=("$scratch"/1/*.deb)
for package in "${packages[@]}"; do
    dpkg-deb -I "$package" | grep -E '^ (Package|Version|Installed-Size|Depends|Recommends)'
    dpkg-deb -c "$package" >>"$scratch/contents"
done
[ "$(awk '$1 !~ /^d/ {print $6}' "$scratch/contents" | sort | uniq -d)" = "" ] || die "a file is in two packages"

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
usr/share/doc/zipmpi-doc/guide/quick_start\.md
usr/share/man/man1/mpicc\.zipmpi\.1\.gz
usr/lib/zipmpi/share/man/man1/mpiexec\.1
usr/lib/zipmpi/share/man/man3/MPI_Send\.3
usr/lib/zipmpi/share/man/man7/zipmpi-parameters\.7
usr/lib/zipmpi/share/zipmpi/bench/compare
usr/lib/zipmpi/share/zipmpi/torch/build\.sh
usr/lib/zipmpi/lib/zipmpi/openmpi/libmpi\.so\.40
usr/lib/zipmpi/lib/zipmpi/openmpi/libmpi_mpifh\.so\.40
usr/lib/zipmpi/lib/zipmpi/openmpi/libmpi_cxx\.so\.40
usr/lib/zipmpi/lib/zipmpi/openmpi/runtime/libopen-pal\.so\.40
usr/lib/zipmpi/lib/zipmpi/mpich/libmpich\.so\.12
usr/lib/zipmpi/lib/zipmpi/mpich/libmpi\.so\.12
PATHS
if awk '{print $6}' "$scratch/contents" | grep -vE '^\./(usr/(bin/[a-z]*(\.zipmpi)?|lib/(zipmpi/.*)?|share/((doc|lintian|man)/.*)?)?)?$'; then
    die "files outside /usr/lib/zipmpi and the folders that Debian's policy requires"
fi
if awk '{print $2}' "$scratch/contents" | grep -vx root/root; then die "files not owned by root"; fi
if awk '$1 !~ /^l/ {print $1}' "$scratch/contents" | grep -E '^.{8}w'; then die "world-writable files"; fi
field() { dpkg-deb -f "$scratch"/1/"$1"_*.deb "$2"; } # package, field
for name in libpmix2 libhwloc15 libucx0 libscotch-7.0 libmetis5; do
    [[ $(field libzipmpi1 Recommends) == *$name* ]] || die "$name is not recommended"
    [[ $(field libzipmpi1 Depends) != *$name* ]] || die "$name is a hard dependency; its module is loaded on demand"
done
[[ $(field libzipmpi1 Suggests) == *libfabric1* && $(field libzipmpi1 Depends) != *libfabric1* ]] || die "libfabric1 is not only suggested"
[[ $(field libzipmpi1 Depends) == *libc6* ]] || die "no dependencies found"
lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$scratch"/1/*.changes || die "lintian reports errors or warnings"

for package in "${packages[@]}"; do dpkg-deb -x "$package" "$scratch/root"; done
if find "$scratch/root" -type f -exec file {} + | grep "not stripped"; then die "not stripped"; fi
bash tests/install/install_test.sh "$build" "$scratch/root/usr/lib/zipmpi"
"$scratch/root/usr/bin/mpicc.zipmpi" tests/install/hello.c -o "$scratch/hello"
[ "$("$scratch/root/usr/bin/mpiexec.zipmpi" -n 4 "$scratch/hello" 4 2>&1)" = "hello from 4 ranks" ] || die "mpiexec.zipmpi"
rm -rf "$build/package"
mkdir -p "$build/package"
cp "${packages[@]}" "$build/package/"
echo "package: the packages in $build/package are good"
