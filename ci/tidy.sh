#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/tidy.sh [BUILD_DIR] [SINCE]
# clang-tidy over the sources that BUILD_DIR compiles (default build/release, which must be built: generated headers
# are needed). With SINCE, only files that differ from that commit. Generated files are not looked at.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
since=${2:-}

mapfile -t files < <(python3 - "$build" "$since" <<'PYTHON'
import json, os, subprocess, sys
build, since = sys.argv[1:3]
root = os.getcwd()
changed = None
if since:
    changed = set(subprocess.run(["git", "diff", "--name-only", since], check=True, capture_output=True,
                                 text=True).stdout.split())
for entry in json.load(open(os.path.join(build, "compile_commands.json"))):
    name = os.path.relpath(entry["file"], root)
    wanted = name.startswith(("src/", "launch/", "tools/")) and not name.endswith("_test.cpp")
    if wanted and (changed is None or name in changed):
        print(name)
PYTHON
)
mapfile -t files < <(printf '%s\n' "${files[@]}" | sort -u | sed '/^$/d')
# Options that only GCC knows would be errors for clang-tidy.
mkdir -p "$build/tidy"
sed -E 's/ -mmem(set|cpy)-strategy=[^ "]+//g' "$build/compile_commands.json" >"$build/tidy/compile_commands.json"
echo "tidy: ${#files[@]} files"
[ ${#files[@]} -eq 0 ] || printf '%s\0' "${files[@]}" |
    xargs -0 -P "$(nproc)" -n 4 clang-tidy -p "$build/tidy" --quiet 2> >(grep -v ' warnings generated\.$' >&2)
