#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""File headers and contents: two SPDX lines, no machine-specific paths, no task notes."""
import re
import sys

from common import Findings, own_files, read_text, relative

CODE = (".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".in", "CMakeLists.txt", ".ci/run")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:" + "|".join(("work", "home", "root")) + r")/[\w.]")
NOTE_TO_SELF = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!X)")


def check_head(findings, path, text):
    head = "\n".join(text.splitlines()[:6])
    if "SPDX-FileCopyrightText: 2026 the ZipMPI authors" not in head or \
            "SPDX-License-Identifier: BSD-3-Clause" not in head:
        findings.error(path, 1, "the two SPDX lines are not at the head of this file")


def check_lines(findings, path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            findings.error(path, number, "a machine-specific path: " + line.strip())
        if NOTE_TO_SELF.search(line):
            findings.error(path, number, "a task note: complete or remove it")


def main():
    findings = Findings("texts")
    files = own_files()
    for path in files:
        text = read_text(path)
        if text is None:
            continue
        if relative(path).endswith(CODE):
            check_head(findings, path, text)
        check_lines(findings, path, text)
    findings.finish(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
