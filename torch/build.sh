#!/bin/sh
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: build.sh TARGET [PREFIX]
# Builds the backend `zipmpi` for the PyTorch of python3 (or $PYTHON) into TARGET/zipmpi_torch; add TARGET to PYTHONPATH.
# PREFIX: ZipMPI's installation, by default the one of this file. Needs a C++17 compiler, the headers of PyTorch, Python and
# pybind11 (Debian: g++ libtorch-dev python3-dev pybind11-dev). Takes about two minutes.
set -eu
[ $# -ge 1 ] || { echo "usage: build.sh TARGET [PREFIX]" >&2; exit 2; }
sources=$(cd "$(dirname "$0")" && pwd)
prefix=${2:-$(cd "$sources/../../.." && pwd)}
target=$1/zipmpi_torch
python=${PYTHON:-python3}
mkdir -p "$target"

# Folders that exist; distributions put the headers into /usr/include.
flags=$("$python" - <<'END'
import os
import sysconfig
import torch
here = os.path.dirname(torch.__file__)
api = "torch/csrc/api/include"
folders = [here + "/include", here + "/include/" + api, "/usr/include/" + api, sysconfig.get_paths()["include"]]
words = ["-D_GLIBCXX_USE_CXX11_ABI=%d" % torch._C._GLIBCXX_USE_CXX11_ABI]
words += ["-isystem" + f for f in folders if os.path.isdir(f)]
words += [f"-L{f} -Wl,-rpath,{f}" for f in [here + "/lib"] if os.path.isdir(f)]
print(" ".join(words))
END
)
standard=c++17
for file in work process_group module; do
    # shellcheck disable=SC2086 # several words
    "$prefix/bin/mpicxx" -std=$standard -O2 -fPIC -fvisibility=hidden ${CXXFLAGS:-} $flags -c "$sources/$file.cpp" -o "$target/$file.o" &
done
wait
# shellcheck disable=SC2086
"$prefix/bin/mpicxx" -shared "$target/work.o" "$target/process_group.o" "$target/module.o" -o "$target/_c10d.so" $flags \
    -ltorch_python -ltorch -ltorch_cpu -lc10
rm "$target/work.o" "$target/process_group.o" "$target/module.o"
cp "$sources/zipmpi_torch/__init__.py" "$sources/zipmpi_torch/store_launcher.py" "$target"
echo "built $target; use it with PYTHONPATH=$(cd "$1" && pwd)"
