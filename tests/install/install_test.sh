#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: install_test.sh BUILD_DIR [PREFIX]
# Installs the build tree, moves the installation, and uses it as a user would: mpicc, mpicxx and mpifort, pkg-config,
# Meson, -lmpi, the static library, and CMake's FindMPI. With PREFIX, uses that installation.
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
    if grep -srlF -e "$scratch/first" -e "$build" "$prefix/bin/mpicc" "$prefix/bin/mpicxx" "$prefix/bin/mpifort" "$prefix"/lib*/pkgconfig \
        "$prefix"/share/zipmpi/fortran; then
        die "an installed file contains the path of the build tree"
    fi
fi
# Debug information, if the build has it, is in separate files that debuggers find.
if [ $# -eq 1 ] && [[ $(readelf -SW "$build/lib/libmpi_abi.so") == *.debug_info* ]]; then
    while read -r file; do
        if [[ $(readelf -SW "$file") == *.debug_info* ]]; then die "$file has debug information in it"; fi
        link=$(readelf -p .gnu_debuglink "$file" 2>/dev/null | grep -o "${file##*/}\.debug") || die "$file names no file for a debugger"
        [ -s "${file%/*}/.debug/$link" ] || die "$file: there is no .debug/$link"
    done < <(find "$prefix" -type f ! -path '*/.debug/*' ! -path '*/fortran/*' -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
    find "$prefix" -name libmpi_abi.so.1.0.debug | grep -q . || die "there is no debug file of the library"
    echo "ok: debug information apart"
fi
export PATH=$prefix/bin:$PATH
cp "$here/hello.c" "$scratch/hello.c"
cp "$here/hello.c" "$scratch/hello.cpp"

# Runs a program alone and with two ranks; it must use the library of the moved installation without LD_LIBRARY_PATH.
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

# A program with the static library: alone, with two ranks, and under a launcher that needs a module, found by its run path.
run_static() {
    local libraries out
    libraries=$(ldd "$1" 2>&1) || true
    [[ $libraries != *libmpi* ]] || die "$1 needs a shared MPI library: $libraries"
    [ "$("$1" 1 2>&1)" = "hello from 1 ranks" ] || die "$1 alone: $("$1" 1 2>&1)"
    out=$(timeout 30 "$prefix/bin/mpiexec" -n 2 "$1" 2 2>&1) || die "mpiexec -n 2 $1: $out"
    [ "$out" = "hello from 2 ranks" ] || die "mpiexec -n 2 $1: $out"
    if [[ $libraries == *libc.so* ]] && command -v mpirun.openmpi >/dev/null && [ -f "$libdir/zipmpi/zipmpi_pmix_client.so" ]; then
        out=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun.openmpi --oversubscribe -n 2 "$1" 2 2>&1) ||
            die "mpirun.openmpi -n 2 $1: $out"
        [ "$out" = "hello from 2 ranks" ] || die "mpirun.openmpi -n 2 $1: $out"
    fi
    echo "ok: $2"
}

mpicc -Wall -Wextra -Werror -pedantic "$scratch/hello.c" -o "$scratch/a"
run "$scratch/a" mpicc
mpicc -c "$scratch/hello.c" -o "$scratch/hello.o"
mpicc "$scratch/hello.o" -o "$scratch/b"
run "$scratch/b" "mpicc -c, then linking"
mpicc_abi "$scratch/hello.c" -o "$scratch/b"
run "$scratch/b" mpicc_abi
for wrapper in mpicxx mpic++ mpiCC mpicxx_abi; do
    $wrapper -Wall -Wextra -Werror "$scratch/hello.cpp" -o "$scratch/c"
    run "$scratch/c" $wrapper
done
if command -v clang >/dev/null; then
    ZIPMPI_CC=clang mpicc -Wall -Wextra -Werror "$scratch/hello.c" -o "$scratch/d"
    run "$scratch/d" "mpicc with clang"
fi
mkdir "$scratch/with blank"
cp "$scratch/hello.c" "$scratch/with blank/hel lo.c"
(cd "$scratch/with blank" && mpicc "hel lo.c" -o "a out" && "./a out" 1 >/dev/null) || die "paths with blanks"
echo "ok: a source with a blank in its path"

libdir=$(mpicc -showme:libdirs)
fortran=
if command -v gfortran >/dev/null && [ -x "$prefix/bin/mpifort" ]; then
    fortran=yes
    for source in hello_mpif.f hello_f08.f90; do
        mpifort "$here/$source" -o "$scratch/f"
        run "$scratch/f" "mpifort $source"
    done
    # A compiler with another version string gets separate modules, compiled once.
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
export PKG_CONFIG_PATH=$libdir/pkgconfig
for module in zipmpi mpi mpi-c mpi-cxx ompi ompi-c ompi-cxx mpich; do
    flags=$(pkg-config --cflags --libs $module)
    # shellcheck disable=SC2086
    cc "$scratch/hello.c" -o "$scratch/e" $flags
    run "$scratch/e" "pkg-config $module"
done
if [ -n "$fortran" ] && [ -f "$libdir/pkgconfig/mpi-fort.pc" ]; then
    for source in hello_mpif.f hello_f08.f90; do
        # shellcheck disable=SC2046
        gfortran "$here/$source" -o "$scratch/e" $(pkg-config --cflags --libs mpi-fort)
        run "$scratch/e" "pkg-config mpi-fort, $source"
    done
fi
# Meson queries pkg-config for ompi-c before it searches mpicc.
if command -v meson >/dev/null && command -v ninja >/dev/null; then
    cp -r "$here/meson" "$scratch/meson"
    cp "$scratch/hello.c" "$scratch/hello.cpp" "$scratch/meson"
    for method in auto config-tool; do
        { meson setup -Dmpi_method=$method "$scratch/meson/$method" "$scratch/meson" && ninja -C "$scratch/meson/$method"; } \
            >"$scratch/meson.log" 2>&1 || die "Meson, $method: $(cat "$scratch/meson.log")"
        run "$scratch/meson/$method/hello_c" "Meson, $method, C"
        run "$scratch/meson/$method/hello_cpp" "Meson, $method, C++"
    done
fi
cc "$scratch/hello.c" -o "$scratch/e" -I"$prefix/include" -L"$libdir" -Wl,-rpath,"$libdir" -lmpi
run "$scratch/e" "a hard-coded -lmpi"

if [ -f "$libdir/libmpi_abi.a" ]; then
    exported=$(nm -g --defined-only "$libdir/libmpi_abi.a" | awk '$2 != "u" && NF == 3 {print $3}' | grep -vE '^(P?MPI(X|_T)?_.*|MPIR_dll_name|zipmpi_message_queues)$') || true # two for debuggers
    [ -z "$exported" ] || die "the static library exports other names than MPI: $exported"
    mpicc -static-mpi "$scratch/hello.c" -o "$scratch/s"
    run_static "$scratch/s" "mpicc -static-mpi"
    mpicxx -static-mpi "$scratch/hello.cpp" -o "$scratch/s"
    run_static "$scratch/s" "mpicxx -static-mpi"
    # shellcheck disable=SC2046
    cc "$scratch/hello.c" -o "$scratch/s" $(pkg-config --cflags --libs zipmpi-static)
    run_static "$scratch/s" "pkg-config zipmpi-static"
    # shellcheck disable=SC2046
    cc -static "$scratch/hello.c" -o "$scratch/s" $(pkg-config --static --cflags --libs zipmpi) 2>"$scratch/ld.log" ||
        die "cc -static: $(cat "$scratch/ld.log")"
    run_static "$scratch/s" "pkg-config --static zipmpi, cc -static"
    if [ -n "$fortran" ]; then
        warned=$(mpifort -static-mpi "$here/hello_f08.f90" -o "$scratch/s" 2>&1) || die "mpifort -static-mpi: $warned"
        [ -z "$warned" ] || die "mpifort -static-mpi: $warned"
        run_static "$scratch/s" "mpifort -static-mpi"
    fi
fi

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
# ZipMPI against itself: installed peers do not matter. 77: the machine is too busy for a result.
(cd "$scratch" && zipmpi bench --suite quick --only message_rate --rounds 1 --vary ZIPMPI_SHM_POLL_MODE=all_rings >bench.log 2>&1) ||
    [ $? -eq 77 ] || die "zipmpi bench: $(cat "$scratch/bench.log")"
grep -q '<figure id="variants"><svg' "$scratch/zipmpi-bench/report.html" || die "zipmpi bench wrote no report"
echo "ok: zipmpi bench"
echo "install: all as expected"
