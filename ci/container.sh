#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/container.sh PACKAGES [--template ROOT]
# Builds the image of packaging/Containerfile by buildah, from the Debian packages in PACKAGES (ci/package.sh), and compiles and
# runs README.md's program in it as its user. The base image is a fresh Debian 12 made by debootstrap, or a copy of ROOT, so that
# no image registry is needed. As root; needs buildah, which ci/packages_test.txt does not list. Not part of .ci/run; the last
# result is in docs/dev/testing.md. Status 77: not possible here.
set -euo pipefail
packages=$(realpath "$1")
cd "$(dirname "$0")/.."
template=
[ "${2:-}" != --template ] || template=$3
command -v buildah >/dev/null || { echo "container: no buildah"; exit 77; }
# shellcheck source=ci/clean_root_functions.sh
. ci/clean_root_functions.sh
make_root "$template"
store=(--root "$scratch/images" --runroot "$scratch/containers" --storage-driver vfs)
isolation=(--isolation chroot)
context=$scratch/context
mkdir -p "$context/packages"
cp "$packages"/*.deb "$context/packages/"

base=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" add -q "$base" "$root" >/dev/null
buildah "${store[@]}" commit -q "$base" docker.io/library/debian:12 >/dev/null
buildah "${store[@]}" bud "${isolation[@]}" --network host --pull-never -f packaging/Containerfile --build-arg PACKAGES=packages \
    -t zipmpi "$context" >"$scratch/build.log" 2>&1 || { tail -n 30 "$scratch/build.log"; exit 1; }

container=$(buildah "${store[@]}" from --pull-never zipmpi)
python3 -B ci/readme_commands.py program >"$scratch/hello.c"
buildah "${store[@]}" copy -q "$container" "$scratch/hello.c" /var/lib/mpi/hello.c >/dev/null
buildah "${store[@]}" run "${isolation[@]}" "$container" -- sh -c 'id -un; mpicc -o /tmp/hello hello.c && mpiexec -n 4 /tmp/hello' \
    >"$scratch/run.log" 2>&1 || { cat "$scratch/run.log"; exit 1; }
buildah "${store[@]}" rm --all >/dev/null
expected=$(printf 'mpiuser\n'; for rank in 0 1 2 3; do printf 'rank %d of 4\n' $rank; done)
[ "$(sort "$scratch/run.log")" = "$expected" ] || { cat "$scratch/run.log"; echo "container: other output than expected"; exit 1; }
echo "container: the image was built; its mpicc and mpiexec work for mpiuser"
