#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: install_test.sh BUILD_DIR [PREFIX]
# Installs the build tree, moves the installation, and uses it as a user would: mpicc, mpicxx and mpifort, pkg-config, and
# CMake's own FindMPI. With PREFIX, uses the installation that is there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LD_LIBRARY_PATH PKG_CONFIG_PATH MPI_HOME CC CXX CFLAGS CXXFLAGS LDFLAGS ZIPMPI_CC ZIPMPI_CXX ZIPMPI_FC FC FFLAGS MPICH_FC OMPI_FC MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX

die() {
    echo "FAILED: $*"
    exit 1
}

if [ $# -gt 1 ]; then
    prefix=$2
else
    cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
    prefix=$scratch/second
    mv "$scratch/first" "$prefix"
    if grep -rlF -e "$scratch/first" -e "$build" "$prefix/bin/mpicc" "$prefix/bin/mpicxx" "$prefix/bin/mpifort" "$prefix"/lib*/pkgconfig \
        "$prefix"/share/zipmpi/fortran; then
        die "an installed file knows where it was made"
    fi
fi
export PATH=$prefix/bin:$PATH
cp "$here/hello.c" "$scratch/hello.c"
cp "$here/hello.c" "$scratch/hello.cpp"

# Runs a program alone and with two ranks; it must use the library of the moved installation, without help.
run() {
    local libraries
    libraries=$(ldd "$1")
    [[ $libraries == *"libmpi_abi.so.1 => $prefix/"* ]] || die "$1 does not find the library: $libraries"
    [ "$("$1" 1 2>&1)" = "hello from 1 ranks" ] || die "$1 alone: $("$1" 1 2>&1)"
    if [ -x "$prefix/bin/mpiexec" ]; then
        local out
        out=$(timeout 30 "$prefix/bin/mpiexec" -n 2 "$1" 2 2>&1) || die "mpiexec -n 2 $1: $out"
        [ "$out" = "hello from 2 ranks" ] || die "mpiexec -n 2 $1: $out"
    fi
    echo "ok: $2"
}

mpicc -Wall -Wextra -Werror -pedantic "$scratch/hello.c" -o "$scratch/a"
run "$scratch/a" mpicc
mpicc -c "$scratch/hello.c" -o "$scratch/hello.o"
mpicc "$scratch/hello.o" -o "$scratch/b"
run "$scratch/b" "mpicc -c, then linking"
for wrapper in mpicxx mpic++ mpiCC; do
    $wrapper -Wall -Wextra -Werror "$scratch/hello.cpp" -o "$scratch/c"
    run "$scratch/c" $wrapper
done
if command -v clang >/dev/null; then
    ZIPMPI_CC=clang mpicc -Wall -Wextra -Werror "$scratch/hello.c" -o "$scratch/d"
    run "$scratch/d" "mpicc with clang"
fi
mkdir "$scratch/with blank"
cp "$scratch/hello.c" "$scratch/with blank/he llo.c"
(cd "$scratch/with blank" && mpicc "he llo.c" -o "a out" && "./a out" 1 >/dev/null) || die "paths with blanks"
echo "ok: a source with a blank in its path"

libdir=$(mpicc -showme:libdirs)
fortran=
if command -v gfortran >/dev/null; then
    fortran=yes
    for source in hello_mpif.f hello_f08.f90; do
        mpifort "$here/$source" -o "$scratch/f"
        run "$scratch/f" "mpifort $source"
    done
    # A compiler that says it is another one gets modules of its own, once.
    cat > "$scratch/other_fortran" <<'TEXT'
#!/bin/sh
[ "$1" != --version ] || { echo "Other Fortran 1.0"; exit; }
exec gfortran "$@"
TEXT
    chmod +x "$scratch/other_fortran"
    export ZIPMPI_FORTRAN_CACHE=$scratch/cache
    mpifort -fc="$scratch/other_fortran" "$here/hello_f08.f90" -o "$scratch/f"
    run "$scratch/f" "mpifort with another compiler"
    [ "$(find "$scratch/cache" -name mpi_f08.mod -newer "$scratch/f" | wc -l)$(find "$scratch/cache" -name mpi_f08.mod | wc -l)" = 01 ] ||
        die "modules of another compiler: $(find "$scratch/cache")"
fi
for module in zipmpi mpi; do
    flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs $module)
    # shellcheck disable=SC2086
    cc "$scratch/hello.c" -o "$scratch/e" $flags
    run "$scratch/e" "pkg-config $module"
done

find_mpi() { # label, further arguments for cmake
    local label=$1
    shift
    cmake -S "$here/findmpi" -B "$scratch/findmpi" -G Ninja -DHELLO_DIR="$here" -DFORTRAN="$fortran" "$@" >"$scratch/findmpi.log" 2>&1 ||
        die "FindMPI: $(cat "$scratch/findmpi.log")"
    grep -qF "$libdir/libmpi_abi.so" "$scratch/findmpi/found.txt" || die "FindMPI found: $(cat "$scratch/findmpi/found.txt")"
    cmake --build "$scratch/findmpi" >"$scratch/findmpi.log" 2>&1 || die "$(cat "$scratch/findmpi.log")"
    run "$scratch/findmpi/hello_c" "$label, C"
    run "$scratch/findmpi/hello_cxx" "$label, C++"
    [ -z "$fortran" ] || run "$scratch/findmpi/hello_fortran" "$label, Fortran"
    rm -rf "$scratch/findmpi"
}
find_mpi "FindMPI by PATH"
PATH=${PATH#*:} find_mpi "FindMPI by MPI_HOME" -DMPI_HOME="$prefix"
PATH=${PATH#*:} find_mpi "FindMPI by MPI_C_COMPILER" -DMPI_C_COMPILER="$prefix/bin/mpicc" -DMPI_CXX_COMPILER="$prefix/bin/mpicxx" \
    -DMPI_Fortran_COMPILER="$prefix/bin/mpifort"

"$prefix/bin/zipmpi" info >/dev/null || die "zipmpi info"
# Ours against ours: what peers are installed does not matter. 77: on a busy machine nothing is measured.
(cd "$scratch" && zipmpi bench --set quick --only message_rate --rounds 1 --vary ZIPMPI_SHM_QUEUES=pairs >bench.log 2>&1) ||
    [ $? -eq 77 ] || die "zipmpi bench: $(cat "$scratch/bench.log")"
grep -q '<figure id="variants"><svg' "$scratch/zipmpi-bench/report.html" || die "zipmpi bench wrote no report"
echo "ok: zipmpi bench"
echo "install: all as expected"
