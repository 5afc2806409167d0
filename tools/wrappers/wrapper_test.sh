#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: wrapper_test.sh BIN_DIR
# Checks the arguments that mpicc, mpicxx and mpifort pass, with a compiler that prints them, one per line.
set -u
bin=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

cat > "$scratch/fake_cc" <<'TEXT'
#!/bin/sh
for a; do printf '<%s>\n' "$a"; done
TEXT
chmod +x "$scratch/fake_cc"
unset MPICH_CC OMPI_CC MPICH_CXX OMPI_CXX MPICH_FC OMPI_FC
ZIPMPI_CC=$scratch/fake_cc
ZIPMPI_CXX=$scratch/fake_cc
ZIPMPI_FC=$scratch/fake_cc
ZIPMPI_FORTRAN_MODULES=$scratch/modules # no modules are built for the fake compiler
export ZIPMPI_CC ZIPMPI_CXX ZIPMPI_FC ZIPMPI_FORTRAN_MODULES

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# has TEXT LINE / lacks TEXT LINE
has() { printf '%s\n' "$1" | grep -qF -- "$2" || complain "no $2 in: $1"; }
lacks() { printf '%s\n' "$1" | grep -qF -- "$2" && complain "unwanted $2 in: $1"; }

wrappers="mpicc mpicc_abi mpicxx mpic++ mpiCC mpicxx_abi"
[ ! -e "$bin/mpifort" ] || wrappers="$wrappers mpifort mpif77 mpif90 mpifort_abi"
for wrapper in $wrappers; do
    out=$("$bin/$wrapper" 'a file.c' -o 'out put' '-DX="a b"')
    has "$out" '<a file.c>'
    has "$out" '<out put>'
    has "$out" '<-DX="a b">'
    has "$out" '<-lmpi_abi>'
    has "$out" '<-Wl,-rpath,'
    has "$out" '<-Wl,--enable-new-dtags>'
    has "$out" '<-I'
    for stop in -c -S -E -M -MM -fsyntax-only -r; do
        out=$("$bin/$wrapper" $stop x.c)
        lacks "$out" mpi_abi
        has "$out" '<-I'
    done
    for only in -v --version -dumpversion -print-search-dirs; do
        out=$("$bin/$wrapper" $only)
        has "$out" "<$only>"
        lacks "$out" mpi_abi
    done
    has "$("$bin/$wrapper" x.o -shared)" '<-lmpi_abi>'
    has "$("$bin/$wrapper" -o x -lstart)" '<-lmpi_abi>'
    for show in -show -showme --showme -link-info -link_info; do
        out=$("$bin/$wrapper" $show)
        has "$out" fake_cc
        has "$out" -lmpi_abi
        has "$out" -I
    done
    has "$("$bin/$wrapper" -show 'x y.c' -c)" '"x y.c" -c'
    lacks "$("$bin/$wrapper" -show x.c -c)" mpi_abi
    lacks "$("$bin/$wrapper" -compile-info)" mpi_abi
    lacks "$("$bin/$wrapper" -showme:compile)" fake_cc
    has "$("$bin/$wrapper" -showme:compile)" -I
    lacks "$("$bin/$wrapper" -showme:compile)" mpi_abi
    has "$("$bin/$wrapper" --showme:link)" '-lmpi_abi'
    has "$("$bin/$wrapper" -showme:link)" '-Wl,-rpath,'
    has "$("$bin/$wrapper" -showme:command)" fake_cc
    has "$("$bin/$wrapper" -showme:incdirs)" include
    lacks "$("$bin/$wrapper" -showme:incdirs)" -I
    has "$("$bin/$wrapper" -showme:libdirs)" lib
    has "$("$bin/$wrapper" -showme:libs)" mpi_abi
    has "$("$bin/$wrapper" -showme:version)" ZipMPI
    has "$("$bin/$wrapper" -showme:help)" usage
    out=$("$bin/$wrapper" -showme:nonsense 2>&1) && complain "$wrapper accepts -showme:nonsense"
    for part in where: why: "fix:"; do has "$out" $part; done
    "$bin/$wrapper" >/dev/null 2>&1 && complain "$wrapper without arguments succeeds"
done

# The static library of the installation, or the message that there is none; its programs find modules by run path.
for wrapper in $wrappers; do
    for option in -static-mpi -static; do
        if [ -e "$bin/../lib/libmpi_abi.a" ]; then
            out=$("$bin/$wrapper" $option x.o -o x)
            has "$out" '<-l:libmpi_abi.a>'
            has "$out" '<-lstdc++>'
            has "$out" '/lib/zipmpi>'
            lacks "$out" '<-lmpi_abi>'
            lacks "$out" '<-static-mpi>'
            has "$("$bin/$wrapper" -showme:link $option)" '-l:libmpi_abi.a'
        else
            out=$("$bin/$wrapper" $option x.o -o x 2>&1) && complain "$wrapper $option without a static library"
            has "$out" 'ZIPMPI_STATIC=ON'
        fi
        out=$("$bin/$wrapper" $option -c x.c) || complain "$wrapper $option -c fails"
        has "$out" '<-c>'
        lacks "$out" mpi_abi
    done
done
[ ! -e "$bin/../lib/libmpi_abi.a" ] || has "$("$bin/mpicc" -static x.o -o x)" '<-static>'

# Choice of the compiler: the option, then the variables of ZipMPI, MPICH and Open MPI.
has "$("$bin/mpicc" -cc=othercc -showme:command)" othercc
has "$(ZIPMPI_CC='' MPICH_CC=mcc OMPI_CC=occ "$bin/mpicc" -showme:command)" mcc
has "$(ZIPMPI_CC='' OMPI_CC=occ "$bin/mpicc" -showme:command)" occ
has "$(ZIPMPI_CC='gcc -m64' "$bin/mpicc" -showme:command)" 'gcc -m64'
has "$(ZIPMPI_CXX='' MPICH_CXX=mcxx "$bin/mpicxx" -showme:command)" mcxx
out=$(ZIPMPI_CC=no-such-compiler "$bin/mpicc" x.c 2>&1) && complain "a missing compiler is not reported"
has "$out" 'no-such-compiler was not found'
has "$out" 'fix:'

# Fortran: the modules and their library precede libmpi_abi; they are built once for another compiler.
if [ -e "$bin/mpifort" ]; then
    has "$("$bin/mpifort" x.f90 -o x)" "<-I$scratch/modules>"
    has "$("$bin/mpifort" x.f90 -o x)" '<-lmpifort_modules>'
    lacks "$("$bin/mpifort" -c x.f90)" mpifort
    has "$("$bin/mpifort" --fc=otherfc -showme:command)" otherfc
    has "$("$bin/mpifort" -showme:libs)" 'mpifort_modules mpifort_abi mpi_abi'
    out=$(ZIPMPI_FORTRAN_MODULES='' ZIPMPI_FORTRAN_CACHE=$scratch/cache "$bin/mpifort" -c x.f90 2>&1) &&
        complain "modules were built by the fake compiler"
    has "$out" 'modules could not be built'
    has "$out" 'fix:'
    [ -z "$(ls "$scratch/cache")" ] || complain "a failed build left $(ls "$scratch/cache")"
    # A flag that gfortran needs and C rejects.
    cat > "$scratch/fake_gfortran" <<'TEXT'
#!/bin/sh
case $1 in
--version) echo "GNU Fortran (Test) 12.2.0" ;;
-dumpversion) echo 12 ;;
*) for a; do printf '<%s>\n' "$a"; done ;;
esac
TEXT
    chmod +x "$scratch/fake_gfortran"
    for sources in x.f90 x.F x.o 'x.c y.F90' 'y.f x.c'; do
        # shellcheck disable=SC2086
        has "$("$bin/mpif90" -fc="$scratch/fake_gfortran" -c $sources)" '<-fallow-argument-mismatch>'
    done
    for sources in x.c 'x.c y.o' 'x.cpp -o x.f90.o'; do
        # shellcheck disable=SC2086
        lacks "$("$bin/mpif90" -fc="$scratch/fake_gfortran" -c $sources)" '<-fallow-argument-mismatch>'
    done
    has "$("$bin/mpif90" -fc="$scratch/fake_gfortran" -showme:compile)" -fallow-argument-mismatch
fi

# A wrapper reached through a link still finds its own directories.
ln -s "$bin/mpicc" "$scratch/mpicc.link"
[ "$("$scratch/mpicc.link" -showme:incdirs)" = "$("$bin/mpicc" -showme:incdirs)" ] || complain "link"

[ "$failures" -eq 0 ] && echo "wrappers: all checks passed"
exit "$failures"
