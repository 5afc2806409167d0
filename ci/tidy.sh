#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/tidy.sh [BUILD_DIR] [SINCE|recent]
# clang-tidy over the sources that BUILD_DIR compiles (default build/release, which must be built: generated headers
# are needed): all of them, about 20 minutes on two cores. With SINCE, only files changed since that commit. With `recent`, those
# that cmake/checks/recent.py selects. Generated files are excluded. Of unit tests, hardly more than errors and warnings of clang
# as a compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
since=${2:-}

# Prints the files, and writes a copy of the compile commands for clang-tidy. Options that only GCC supports would be errors.
# Without precompiled headers, so that a missing include is found here. Sources that a test also compiles, with other headers, are
# checked as the product compiles them.
mkdir -p "$build/tidy"
PYTHONPATH=cmake/checks python3 -B - "$build" "$since" >"$build/tidy/files.txt" <<'PYTHON'
import json, os, re, sys
from recent import RecentFiles, git
from self_contained_headers import PRECOMPILED
build, since = sys.argv[1:3]
root = os.getcwd()
UNKNOWN = re.compile(r" -mmem(set|cpy)-strategy=[^ ]+|" + PRECOMPILED.pattern)

changed = None
if since == "recent":
    changed = RecentFiles()
elif since:
    changed = set(git("diff", "--name-only", since))

def is_wanted(name):
    return name.startswith(("src/", "launch/", "tools/")) and (changed is None or name in changed)

entries = [entry for entry in json.load(open(f"{build}/compile_commands.json")) if " -o tests/" not in entry["command"]]
for entry in entries:
    entry["command"] = UNKNOWN.sub("", entry["command"])
json.dump(entries, open(f"{build}/tidy/compile_commands.json", "w"))
names = {os.path.relpath(entry["file"], root) for entry in entries}
for name in sorted(filter(is_wanted, names)):
    print(name)
PYTHON
mapfile -t sources < <(grep -v '_test\.cpp$' "$build/tidy/files.txt")
mapfile -t tests < <(grep '_test\.cpp$' "$build/tidy/files.txt")
echo "tidy: ${#sources[@]} sources, ${#tests[@]} unit tests"

tidy() { # checks, files
    local checks=$1
    shift
    [ $# -eq 0 ] || printf '%s\0' "$@" |
        xargs -0 -P "$(nproc)" -n 4 clang-tidy -p "$build/tidy" --quiet --checks="$checks" 2> >(grep -v ' warnings generated\.$' >&2)
}
tidy '' "${sources[@]}"
tidy '-*,clang-diagnostic-*,bugprone-unused-raii' "${tests[@]}"
