#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a benchmark that must succeed, write nothing to stderr, and print one positive result under each of the given names
(zero is allowed for fractions, whose unit begins with %). Exits with 77 if the library lacks a function.

usage: run_briefly.py NAME,NAME... COMMAND ARGUMENTS..."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness.stats import parse  # noqa: E402 pylint: disable=wrong-import-position

names, command = set(sys.argv[1].split(",")), sys.argv[2:]
run = subprocess.run(command, capture_output=True, text=True, check=False)
sys.stdout.write(run.stdout)
sys.stderr.write(run.stderr)
lines = parse(run.stdout)
if run.returncode != 0 and "is not implemented in this version" in run.stderr:
    sys.exit(77)
if run.returncode != 0:
    sys.exit(f"exit status {run.returncode}")
if run.stderr:
    sys.exit("stderr is not empty")
if len(lines) != len(run.stdout.splitlines()):
    sys.exit("the output has a line that is not 'name size value unit'")
if {line.name for line in lines} != names:
    sys.exit(f"results named {sorted({line.name for line in lines})}, not {sorted(names)}")
if not all(line.value > 0 or (line.unit.startswith("%") and line.value == 0) for line in lines):
    sys.exit("a result that is not positive")
