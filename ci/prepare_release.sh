#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/prepare_release.sh VERSION
# Checks that the tree is ready to be tagged as VERSION (x.y.z) and prints the commands that tag it. Changes nothing:
# the version of CMakeLists.txt and the section of CHANGELOG.md are part of a reviewed commit.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: ci/prepare_release.sh VERSION}
failed=0
complain() {
    echo "not ready: $1" >&2
    failed=1
}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || complain "the version is not of the form x.y.z: $version"
# Patch releases of a minor version can be mixed between hosts (src/base/job_protocol.hpp).
first=v${version%.*}.0
if [[ $version != *.0 ]] && git rev-parse -q --verify "refs/tags/$first" >/dev/null; then
    git diff --quiet -G'job_protocol = ' "$first" -- src/base/job_protocol.hpp || complain "the job protocol is not that of $first"
fi
[ -z "$(git status --porcelain)" ] || complain "there are changes that are not committed"
grep -qE "^project\(ZipMPI VERSION ${version//./\\.} " CMakeLists.txt || complain "CMakeLists.txt has another version"
grep -qE "^## \[${version//./\\.}\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
    complain "CHANGELOG.md has no section '## [$version] - YYYY-MM-DD'"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || complain "the tag v$version exists"
ci/lint.sh >/dev/null || complain "ci/lint.sh fails"
[ $failed = 0 ] || exit 1
echo "git tag -s v$version -m 'ZipMPI $version'"
echo "git push origin v$version"
