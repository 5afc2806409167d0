#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: build_modules.sh SOURCES INCLUDE TARGET COMPILER...
# Builds what belongs to one Fortran compiler: the modules mpi and mpi_f08, and libmpifort_modules.a with the code for its
# array descriptors. Called by the build for the compiler that is there, and by mpifort for others. TARGET appears in
# one piece, so that several calls may do this at the same time.
#
# The C part is compiled with the compiler's own ISO_Fortran_binding.h: found beside a compiler of GCC, else in the include
# directories of its installation. ZIPMPI_CC names the C compiler.
set -eu
sources=$1
include=$2
target=$3
shift 3

scratch=$target.$$
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"
cd "$scratch"

flags="-O1 -fPIC" # there are no loops in what every call runs
header=$("$@" -print-file-name=include 2>/dev/null) || header=
if [ ! -f "$header/ISO_Fortran_binding.h" ]; then
    place=$(command -v "$1") && place=$(readlink -f -- "$place") && place=${place%/*}
    header=$(find "$place/../include" "$place/../lib" "$place/../opt/compiler/include" -name ISO_Fortran_binding.h \
        2>/dev/null | head -n 1) || header=
    header=${header%/*}
fi

for module in zipmpi_base mpi mpi_f08; do
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
