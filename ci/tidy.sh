#!/bin/bash
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: ci/tidy.sh [BUILD_DIR] [SINCE|recent]
# clang-tidy over the sources that BUILD_DIR compiles (default build/release, which must be built: generated headers
# are needed): all of them, about 20 minutes on two cores. With SINCE, only files changed since that commit. With `recent`, those
# of the last 20 commits (a merge counts as one) and a tenth of the others, a different tenth for each commit. Generated files are
# excluded.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
since=${2:-}

# Prints the files, and writes a copy of the compile commands for clang-tidy. Options that only GCC supports would be errors.
# Without precompiled headers, so that a missing include is found here. Sources that a test also compiles, with other headers, are
# checked as the product compiles them.
mkdir -p "$build/tidy"
PYTHONPATH=cmake/checks python3 -B - "$build" "$since" >"$build/tidy/files.txt" <<'PYTHON'
import json, os, re, subprocess, sys, zlib
from self_contained_headers import PRECOMPILED
build, since = sys.argv[1:3]
root = os.getcwd()

WHOLESALE = 150  # commits with more files are skipped here: run ci/tidy.sh over everything before them
UNKNOWN = re.compile(r" -mmem(set|cpy)-strategy=[^ ]+|" + PRECOMPILED.pattern)

def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.split()

changed, turn = None, ""
if since == "recent":
    turn = git("rev-parse", "HEAD")[0]
    commits = git("log", "-n", "20", "--first-parent", "--format=%H")
    changed_by = [set(git("show", "-m", "--first-parent", "--name-only", "--format=", commit)) for commit in commits]
    changed = set().union(*(names for names in changed_by if len(names) <= WHOLESALE))
elif since:
    changed = set(git("diff", "--name-only", since))

def has_its_turn(name):
    return turn and zlib.crc32((turn + name).encode()) % 10 == 0

def is_wanted(name):
    selected = name.startswith(("src/", "launch/", "tools/")) and not name.endswith("_test.cpp")
    return selected and (changed is None or name in changed or has_its_turn(name))

entries = [entry for entry in json.load(open(f"{build}/compile_commands.json")) if " -o tests/" not in entry["command"]]
for entry in entries:
    entry["command"] = UNKNOWN.sub("", entry["command"])
json.dump(entries, open(f"{build}/tidy/compile_commands.json", "w"))
names = {os.path.relpath(entry["file"], root) for entry in entries}
for name in sorted(filter(is_wanted, names)):
    print(name)
PYTHON
mapfile -t files <"$build/tidy/files.txt"
echo "tidy: ${#files[@]} files"
[ ${#files[@]} -eq 0 ] || printf '%s\0' "${files[@]}" |
    xargs -0 -P "$(nproc)" -n 4 clang-tidy -p "$build/tidy" --quiet 2> >(grep -v ' warnings generated\.$' >&2)
