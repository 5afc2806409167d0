#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs invalid_args. After a case that crashes or hangs the program is restarted with the next case, so that one run reports
all failing cases.

usage: run_invalid_args.py PROGRAM"""
import re
import subprocess
import sys

MOST_CRASHES = 40
FEWEST_CASES = 1000  # lower bound
first, crashes, wrong = 1, 0, 0
while crashes < MOST_CRASHES:
    run = subprocess.run([sys.argv[1], str(first)], capture_output=True, text=True, check=False)
    lines = run.stdout.splitlines()
    print(run.stdout, run.stderr, sep="", end="", flush=True)
    wrong += sum(line.startswith("case ") for line in lines)
    if lines and (end := re.fullmatch(r"(\d+) cases, \d+ wrong", lines[-1])):
        if int(end[1]) < FEWEST_CASES:
            sys.exit(f"only {end[1]} cases ran, expected at least {FEWEST_CASES}")
        sys.exit(f"{wrong} wrong cases" if wrong else 0)
    last = re.match(r"case (\d+): ", lines[-1]) if lines else None
    if last is None:
        sys.exit(f"ended with status {run.returncode} without naming the case")
    first, crashes = int(last[1]) + 1, crashes + 1
sys.exit(f"{wrong} failing cases, and more than {MOST_CRASHES} crashes")
