#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/reproducible.sh [FOLDER]
# Builds the Debian packages of the last commit from source twice, in folders of different names, at different times, with
# different time zones, languages, masks of permissions and numbers of processes, and compares the bytes of all packages. Keeps the
# packages of both builds in FOLDER. Takes two builds without tests, so it is not part of .ci/run; the last result is in
# docs/dev/testing.md. Status 77: no debhelper.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v dh >/dev/null || { echo "reproducible: no dh (package debhelper)"; exit 77; }
scratch=$(mktemp -d -p /var/tmp)
trap 'rm -rf "$scratch"' EXIT

build() { # name, subfolder, mask, variables...
    local name=$1 folder=$scratch/$1/$2 mask=$3 begin=$SECONDS
    shift 3
    mkdir -p "$folder"
    git archive HEAD | tar x -C "$folder"
    find "$folder" -exec touch -h -d "now - $((RANDOM % 100)) days" {} +
    (umask "$mask" && cd "$folder" && env CCACHE_DISABLE=1 "$@" dpkg-buildpackage -b -us -uc -d) >"$scratch/$name.log" 2>&1 ||
        { tail -n 40 "$scratch/$name.log"; echo "reproducible: the build in $folder failed"; exit 1; }
    mkdir "$scratch/$name/packages"
    mv "$(dirname "$folder")"/*.deb "$scratch/$name/packages"
    (cd "$scratch/$name/packages" && sha256sum ./*.deb) >"$scratch/$name.sums"
    echo "reproducible: build $name $((SECONDS - begin)) s"
}

build first zipmpi 022 TZ=UTC LC_ALL=C.UTF-8
build second a/longer/path/to/source 002 TZ=Pacific/Kiritimati LC_ALL=C DEB_BUILD_OPTIONS=parallel=3
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    for n in first second; do cp -r "$scratch/$n/packages" "$1/$n"; done
fi
diff "$scratch/first.sums" "$scratch/second.sums" && echo "reproducible: both builds have the same bytes" && exit
for package in "$scratch"/first/packages/*.deb; do
    name=$(basename "$package")
    for n in first second; do dpkg-deb -x "$scratch/$n/packages/$name" "$scratch/$n/files"; done
done
echo "reproducible: files that differ"
diff -rq "$scratch/first/files" "$scratch/second/files" || true
exit 1
