#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/build_as_user.sh
# Builds and installs ZipMPI by the exact commands of README.md: in a new build/release, without ccache, which hides some compiler
# errors. A warning fails. The tests are not run (ci/run_tests.sh). The installation, which README.md puts into /opt/zipmpi, and the
# first program are tried in a private mount namespace: nothing is left behind. Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER MAKEFLAGS CC CXX CFLAGS CXXFLAGS LDFLAGS
export CCACHE_DISABLE=1
prologue='set -euxo pipefail
command -v sudo >/dev/null || sudo() { "$@"; }'
log=build/build_as_user.log

build=$(python3 -B ci/readme_commands.py build)
install=$(python3 -B ci/readme_commands.py install)
rm -rf build/release
mkdir -p build
bash -c "$prologue
$build" >"$log" 2>&1 || {
    tail -n 100 "$log"
    exit 1
}
mv "$log" build/release/build.log
if grep -n -A 5 'warning:' build/release/build.log; then
    echo "build as user: users would see these warnings"
    exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; rmdir --ignore-fail-on-non-empty /opt/zipmpi' EXIT
mkdir -p /opt/zipmpi
TMPDIR=$scratch unshare --mount bash -c "mount -t tmpfs tmpfs /opt/zipmpi
$prologue
$install" >build/release/install.log 2>&1 || {
    tail -n 30 build/release/install.log
    exit 1
}
for rank in 0 1 2 3; do
    grep -qx "rank $rank of 4" build/release/install.log || {
        tail -n 30 build/release/install.log
        echo "build as user: the program of README.md did not print 'rank $rank of 4'"
        exit 1
    }
done
echo "build as user: the commands of README.md work, without a warning"
