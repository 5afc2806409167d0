#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: self_contained_headers.py BUILD_DIR [recent]
Every header compiles on its own, with the flags of a source file near it. With `recent`, only headers changed by the last
commits and a tenth of the others (recent.py).

A header that another header or a source includes first is compiled on its own with that file. So a header is compiled here
only if no other file includes it first, and no object built without precompiled headers and newer than both has shown it."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from common import Findings, ROOT, own_files, relative
from recent import RecentFiles

FOLDERS = ("src/", "launch/", "tools/")
PRECOMPILED = re.compile(r" -include \S+| -Xclang -include(-pch)? -Xclang \S+| -fpch-preprocess| -Winvalid-pch")
# Nothing but comments and #pragma once before the first include.
LEADS = re.compile(r'(?:\s|//[^\n]*\n|/\*.*?\*/|#pragma once\n)*#include "([^"]+)"', re.DOTALL)


class Source:
    """A source file of this tree with its compile command, without source, output and precompiled headers."""

    def __init__(self, entry):
        self.path, self.directory = pathlib.Path(entry["file"]), entry["directory"]
        self.object, self.command = None, []
        plain = PRECOMPILED.sub("", entry["command"])
        self.precompiled = plain != entry["command"]
        arguments = iter(shlex.split(plain))
        for word in arguments:
            if word == "-o":
                self.object = pathlib.Path(self.directory, next(arguments))
            elif word not in ("-c", entry["file"]):
                self.command.append(word)
        self.folders = [pathlib.Path(self.directory, word[2:]) for word in self.command if word.startswith("-I")]

    def included_first(self, path):
        """The first header that `path` includes, if any."""
        found = LEADS.match(path.read_text())
        for folder in [path.parent, *self.folders] if found else []:
            if (folder / found[1]).is_file():
                return (folder / found[1]).resolve()
        return None

    def compiled_self_contained(self):
        """Headers compiled on their own with the object: the source's first header, that header's first, recursively."""
        if self.precompiled or self.object is None or not self.object.is_file():
            return
        made, path = self.object.stat().st_mtime, self.path
        while path is not None and path.stat().st_mtime < made:
            if path != self.path:
                yield path
            path = self.included_first(path)


def sources(build_dir):
    found = [Source(entry) for entry in json.loads((build_dir / "compile_commands.json").read_text())]
    return [s for s in found if s.path.is_relative_to(ROOT) and s.path.suffix == ".cpp"]


def nearest(table, header):
    """A source in the header's folder, below or above it; for a header-only layer, a source that may include it."""
    layer = relative(header).split("/")[1]
    for folder in [p for p in header.parents if p.is_relative_to(ROOT) and p not in (ROOT, ROOT / "src")]:
        for candidate in sorted(table):
            if candidate == folder or folder in candidate.parents:
                return table[candidate]
    for source in table.values():
        if any(word.endswith(f"/header_view/{layer}") for word in source.command):
            return source
    return next(iter(table.values()))


def compile_self_contained(table, header):
    source = nearest(table, header)
    return subprocess.run(source.command + ["-fsyntax-only", "-x", "c++", "-"], cwd=source.directory,
                          input=f'#include "{header}"\n', capture_output=True, text=True)


def main():
    known = sources(pathlib.Path(sys.argv[1]).resolve())
    if not known:
        print("headers: no compile_commands.json with sources of this tree")
        sys.exit(1)
    table = {}
    for source in known:
        table.setdefault(source.path.parent, source)
    findings = Findings("headers")
    headers = [h for h in own_files(".hpp") if relative(h).startswith(FOLDERS)]
    if sys.argv[2:] == ["recent"]:
        recent = RecentFiles()
        headers = [h for h in headers if relative(h) in recent]
    by_build = {header for source in known for header in source.compiled_self_contained()}
    by_others = {nearest(table, header).included_first(header) for header in headers}
    left = [header for header in headers if header not in by_build and header not in by_others]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, result in zip(left, pool.map(lambda h: compile_self_contained(table, h), left)):
            if result.returncode != 0:
                findings.error(header, 1, "does not compile on its own\n" + result.stderr)
    findings.finish(f"{len(headers)} headers, {len(left)} of them compiled here,")


if __name__ == "__main__":
    sys.exit(main())
