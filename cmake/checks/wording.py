#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The vocabulary of docs/dev/glossary.md is used everywhere. Three lists are data:
wording.tsv            phrases that must not occur in code, comments, messages, help and pages, with what to write instead
wording_exempt.tsv     files in which one of them is right, with the reason
retired_names.tsv      identifiers, files and parameters that were renamed, with their new names
usage: wording.py [--count]   --count prints the number of hits per phrase instead of the hits."""
import collections
import fnmatch
import re
import sys

from common import ROOT, Findings, own_files, read_text, relative

CHECKS = "cmake/checks/"
SKIPPED = (CHECKS + "wording*", CHECKS + "retired_names.tsv", "include/*", "spec/descriptions.tsv", "LICENSE", "CHANGELOG.md", "*.svg", "*.png",
           "docs/dev/glossary.md")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
SCOPES = {"all": ("*",), "code": ("*.cpp", "*.hpp", "*.c", "*.py", "*.sh"), "bench": ("bench/*", "docs/*")}


def rows(name):
    path = ROOT / CHECKS / name
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


class Phrases:
    """Regular expressions over lines, and words over the parts of identifiers."""

    def __init__(self):
        self.lines = []
        self.parts = {}
        for kind, scope, pattern, instead in rows("wording.tsv"):
            if kind == "line":
                self.lines.append((SCOPES[scope], re.compile(pattern, re.IGNORECASE), pattern, instead))
            else:
                self.parts[pattern] = instead
        self.exempt = collections.defaultdict(list)
        for pattern, glob, _reason in rows("wording_exempt.tsv"):
            self.exempt[pattern].append(glob)
        self.retired = {row[0]: row[1] for row in rows("retired_names.tsv")}

    def is_exempt(self, pattern, name):
        return any(fnmatch.fnmatch(name, glob) for glob in self.exempt.get(pattern, ()))

    def hits(self, name, text):
        active = [(rx, pattern, instead) for globs, rx, pattern, instead in self.lines
                  if any(fnmatch.fnmatch(name, glob) for glob in globs) and not self.is_exempt(pattern, name)]
        for number, line in enumerate(text.splitlines(), 1):
            for rx, pattern, instead in active:
                match = rx.search(line)
                if match:
                    yield number, pattern, f"'{match[0].strip()}': {instead}"
            for word in set(WORD.findall(line)):
                if word in self.retired and not self.is_exempt(word, name):
                    yield number, word, f"'{word}' is called {self.retired[word]} now"
                if "_" in word.strip("_") or INNER_CAPITAL.search(word):
                    for part in set(PART.findall(word)):
                        key = part.lower()
                        if key in self.parts and not self.is_exempt(key, name):
                            yield number, key, f"'{key}' in '{word}': {self.parts[key]}"


def main():
    findings = Findings("wording")
    phrases = Phrases()
    counts = collections.Counter()
    files = [f for f in own_files() if not any(fnmatch.fnmatch(relative(f), s) for s in SKIPPED)]
    for path in files:
        text = read_text(path)
        if text is None:
            continue
        for number, pattern, message in phrases.hits(relative(path), text):
            counts[pattern] += 1
            if "--count" not in sys.argv:
                findings.error(path, number, message)
    if "--count" in sys.argv:
        for pattern, count in counts.most_common():
            print(f"{count:6} {pattern}")
        findings.errors = sum(counts.values())
    findings.finish(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
