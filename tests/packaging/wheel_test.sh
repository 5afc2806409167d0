#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: wheel_test.sh BUILD_DIR
# Installs the build tree, makes a wheel of it, installs that in a virtual environment without network, runs Debian's mpi4py
# on it, moves the environment, and removes the wheel: nothing may be left. Status 77: no pip or mpi4py.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
python=/usr/bin/python3 # which Debian's mpi4py is for
"$python" -c 'import pip, venv, mpi4py' 2>/dev/null || { echo "skipped: needs python3-pip and python3-mpi4py"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LD_LIBRARY_PATH PYTHONPATH

die() {
    echo "FAILED: $*"
    exit 1
}

cmake --install "$build" --prefix "$scratch/prefix" --strip >"$scratch/install.log"
wheel=$("$python" -B "$source/packaging/wheel/build_wheel.py" "$scratch/prefix" "$scratch")
cp "$wheel" "$scratch/first"
"$python" -B "$source/packaging/wheel/build_wheel.py" "$scratch/prefix" "$scratch" >"$scratch/again.log"
cmp "$wheel" "$scratch/first" || die "two runs made different wheels"
rm -r "$scratch/prefix"
ls -l "$wheel"

"$python" -m venv --system-site-packages --without-pip "$scratch/venv"
find "$scratch/venv" | sort >"$scratch/before"
pip=(env PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_CACHE_DIR=1 "$scratch/venv/bin/python" -B -m pip)
"${pip[@]}" install --quiet --no-index --no-compile "$wheel" || die "pip install"

hello() { # folder of the environment, launcher
    local out
    out=$(PATH=$1/bin:$PATH timeout 60 "$2" -n 4 "$1/bin/python3" -B -m mpi4py.bench helloworld 2>&1) || die "$2: $out"
    for rank in 0 1 2 3; do
        [[ $out == *"I am process $rank of 4 "* ]] || die "$2: $out"
    done
    out=$("$1/bin/$2" -n 2 "$1/bin/python3" -B -c 'from mpi4py import MPI; print(MPI.Get_library_version())')
    [[ $out == *"ABI of ZipMPI "* ]] || die "the library is $out"
    echo "ok: $2 in ${1#"$scratch"/}"
}

hello "$scratch/venv" mpiexec
hello "$scratch/venv" mpirun
"$scratch/venv/bin/zipmpi" info >"$scratch/info" || die "zipmpi info"
mv "$scratch/venv" "$scratch/moved"
"$scratch/moved/bin/mpiexec" -n 2 "$python" -B -m mpi4py.bench helloworld >"$scratch/out" || die "moved: $(cat "$scratch/out")"
grep -q "I am process 1 of 2 " "$scratch/out" || die "moved: $(cat "$scratch/out")"
echo "ok: moved"
mv "$scratch/moved" "$scratch/venv"
"${pip[@]}" uninstall --quiet --yes zipmpi || die "pip uninstall"
find "$scratch/venv" -type f -o -type l | sort >"$scratch/after"
if comm -13 "$scratch/before" "$scratch/after" | grep .; then die "files are left"; fi
echo "ok: removed"
