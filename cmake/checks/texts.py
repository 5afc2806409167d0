#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Heads and habits of files: two SPDX lines, a short README in each folder of code, no paths of one machine, no
notes to self, links in pages that lead somewhere."""
import re
import sys

from common import Findings, own_files, relative

CODE = (".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".in", "CMakeLists.txt", ".ci/run")
HOLDS_CODE = (".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".tsv", ".toml", ".json")
NEEDS_NO_README = {".", ".ci", "include"}
README_LIMIT = 60
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:" + "|".join(("work", "home", "root")) + r")/[\w.]")
NOTE_TO_SELF = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!X)")
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#:\s]+)(?:#[^)]*)?\)")


def check_head(findings, path, text):
    head = "\n".join(text.splitlines()[:6])
    if "SPDX-FileCopyrightText: 2026 the ZipMPI authors" not in head or \
            "SPDX-License-Identifier: BSD-3-Clause" not in head:
        findings.error(path, 1, "the two SPDX lines are not at the head of this file")


def check_lines(findings, path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            findings.error(path, number, "a path of one machine: " + line.strip())
        if NOTE_TO_SELF.search(line):
            findings.error(path, number, "a note to self: do it or drop it")


def check_links(findings, path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for match in LINK.finditer(line):
            if not (path.parent / match["target"]).exists():
                findings.error(path, number, f"the link to {match['target']} leads nowhere")


def described_above(folder):
    """A small folder inside another may be described in the README of that one, under `its name/...`."""
    above = folder.parent / "README.md"
    return above.is_file() and f"{folder.name}/" in above.read_text(encoding="utf-8")


def check_readmes(findings, files):
    folders = {p.parent for p in files if p.name.endswith(HOLDS_CODE)}
    for folder in sorted(folders):
        readme = folder / "README.md"
        if relative(folder) in NEEDS_NO_README or relative(folder).startswith("docs"):
            continue
        if not readme.is_file():
            if not described_above(folder):
                findings.error(folder, 1, "no README.md here, and none above that names this folder")
        elif readme.read_text(encoding="utf-8").count("\n") > README_LIMIT:
            findings.error(readme, 1, f"longer than {README_LIMIT} lines")


def main():
    findings = Findings("texts")
    files = own_files()
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if relative(path).endswith(CODE):
            check_head(findings, path, text)
        check_lines(findings, path, text)
        if path.suffix == ".md":
            check_links(findings, path, text)
    check_readmes(findings, files)
    findings.finish(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
