#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: headers_alone.py BUILD_DIR
Every header compiles by itself, with the flags of a source file near it."""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

from common import Findings, ROOT, own_files, relative

FOLDERS = ("src/", "launch/", "tools/")


def commands(build_dir):
    """Folder of a source file -> (directory, compiler command without source and output)."""
    table = {}
    for entry in json.loads((build_dir / "compile_commands.json").read_text()):
        words, kept = iter(shlex.split(entry["command"])), []
        for word in words:
            if word == "-o":
                next(words)
            elif word not in ("-c", entry["file"]):
                kept.append(word)
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT) and source.suffix == ".cpp":
            table.setdefault(source.parent, (entry["directory"], kept))
    return table


def nearest(table, header):
    """Flags of a source in the header's folder, below or above it; a layer of headers only has none of its own,
    then of a source that may include this layer."""
    layer = relative(header).split("/")[1]
    for folder in [p for p in header.parents if p.is_relative_to(ROOT) and p not in (ROOT, ROOT / "src")]:
        for candidate in sorted(table):
            if candidate == folder or folder in candidate.parents:
                return table[candidate]
    for directory, command in table.values():
        if any(word.endswith(f"/header_view/{layer}") for word in command):
            return directory, command
    return None


def compile_alone(table, header):
    directory, command = nearest(table, header) or next(iter(table.values()))
    text = f'#include "{header}"\n'
    return subprocess.run(command + ["-fsyntax-only", "-x", "c++", "-"], cwd=directory, input=text,
                          capture_output=True, text=True)


def main():
    table = commands(pathlib.Path(sys.argv[1]).resolve())
    if not table:
        print("headers: no compile_commands.json with sources of this tree")
        sys.exit(1)
    findings = Findings("headers")
    headers = [h for h in own_files(".hpp") if relative(h).startswith(FOLDERS)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for header, result in zip(headers, pool.map(lambda h: compile_alone(table, h), headers)):
            if result.returncode != 0:
                findings.error(header, 1, "does not compile by itself\n" + result.stderr)
    findings.finish(f"{len(headers)} headers")


if __name__ == "__main__":
    sys.exit(main())
