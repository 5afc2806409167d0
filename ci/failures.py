#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: ci/failures.py LOG...

Summary of failed stages from their logs: the names of the failed tests and the end of their output; for a stage without tests
the errors, or else its last lines.
"""
import os
import re
import sys

LINES_OF_A_TEST = 25
TESTS_SHOWN = 8
LINES_OF_A_STAGE = 40

RESULT = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*(?:\*\*\*)?(Failed|Timeout|Exception|Not Run|.*Subprocess|.*Required)")
BEGIN = re.compile(r"^( *\d+/\d+ Test +#| *Start +\d+: |\d+% tests passed)")
ERROR = re.compile(r"\b(error|FAILED|ERROR|not ok)\b")


def failed_tests(lines):
    """(name, output lines) of each failed test."""
    tests = []
    printed = None
    for line in lines:
        match = RESULT.match(line)
        if match:
            printed = []
            tests.append((f"{match[1]}: {match[2]}", printed))
        elif BEGIN.match(line):
            printed = None
        elif printed is not None and line.strip():
            printed.append(line)
    return tests


def main():
    for path in sys.argv[1:]:
        with open(path, errors="replace") as file:
            lines = file.read().splitlines()
        print(f"=== failed: {os.path.splitext(os.path.basename(path))[0]}")
        tests = failed_tests(lines)
        for name, printed in tests[:TESTS_SHOWN]:
            print(f"--- {name}", *printed[-LINES_OF_A_TEST:], sep="\n")
        for name, _ in tests[TESTS_SHOWN:]:
            print(f"--- {name} (its output is in the log)")
        if not tests:
            errors = [line for line in lines if ERROR.search(line)]
            print(*(errors or lines)[-LINES_OF_A_STAGE:], sep="\n")


if __name__ == "__main__":
    main()
