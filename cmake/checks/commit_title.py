#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: commit_title.py FILE
Checks the first line of a commit message: `area: imperative summary`, at most 72 characters. A commit-msg hook."""
import re
import sys

TITLE = re.compile(r"^[a-z0-9_.][a-z0-9_., /-]*: [a-z0-9_`'\"(-].*[^.]$")
LIMIT = 72


def fault(title):
    if len(title) > LIMIT:
        return f"the title has {len(title)} characters, more than {LIMIT}"
    if title.startswith("Merge "):
        return "rebase or squash instead of merging"
    if not TITLE.match(title):
        return "the title is not of the form 'area: imperative summary' without a final period"
    return None


def self_test():
    assert fault("transport: retry sends after a full ring") is None
    assert fault("ci, cmake: drop the second try") is None
    assert fault("Transport: Retry") and fault("no area") and fault("a: " + "x" * 80) and fault("a: ends.") and fault("Merge branch x")


def main():
    self_test()
    with open(sys.argv[1], encoding="utf-8") as message:
        title = message.readline().rstrip("\n")
    text = fault(title)
    if text:
        print(f"commit title: {text}: {title}")
    return 1 if text else 0


if __name__ == "__main__":
    sys.exit(main())
