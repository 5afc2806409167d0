#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: build_modules.sh SOURCES INCLUDE TARGET COMPILER...
# Builds the files for one Fortran compiler: the modules mpi, mpi_f08 and those for extensions, and libmpifort_modules.a
# with the code for its array descriptors. Called by the build for the detected compiler, and by mpifort for others. TARGET is replaced
# atomically, so that concurrent calls are safe.
#
# The C files are compiled with the compiler's ISO_Fortran_binding.h: found next to a GCC compiler, otherwise in the
# include directories of its installation. ZIPMPI_CC names the C compiler.
set -eu
sources=$1
include=$2
target=$3
shift 3

scratch=$target.$$
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"
cd "$scratch"

flags="-O1 -fPIC" # the code has no hot loops
header=$("$@" -print-file-name=include 2>/dev/null) || header=
if [ ! -f "$header/ISO_Fortran_binding.h" ]; then
    bindir=$(command -v "$1") && bindir=$(readlink -f -- "$bindir") && bindir=${bindir%/*}
    header=$(find "$bindir/../include" "$bindir/../lib" "$bindir/../opt/compiler/include" -name ISO_Fortran_binding.h \
        2>/dev/null | head -n 1) || header=
    header=${header%/*}
fi

for module in zipmpi_base mpi mpi_f08 mpi_ext mpi_f08_ext; do
    # shellcheck disable=SC2086
    "$@" $flags -I"$sources" -I. -c "$sources/$module.f90"
done
for file in sections f08_buffers; do
    # shellcheck disable=SC2086
    ${ZIPMPI_CC:-cc} $flags ${header:+-I"$header"} -I"$sources" -I"$include" -c "$sources/$file.c"
done
ar rcs libmpifort_modules.a ./*.o
rm -f ./*.o
. "$sources/compiler_key.sh"
zipmpi_compiler_key "$@" > compiler.txt

cd /
rm -rf "$target.old.$$"
[ ! -e "$target" ] || mv "$target" "$target.old.$$"
mv "$scratch" "$target" || { rm -rf "$scratch"; [ -f "$target/compiler.txt" ]; }
rm -rf "$target.old.$$"
