#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command that must succeed, print a text to stdout, and write nothing to stderr.

usage: expect_empty_stderr.py [--only-if "COMMAND"] [--only-about TEXT] TEXT COMMAND ARGUMENTS...
--only-if: if that command exits with 77, the test does, too, and counts as skipped.
--only-about: messages of mpiexec with this text in their first line are expected on stderr.
"""
import subprocess
import sys

arguments = sys.argv[1:]
if arguments[0] == "--only-if":
    if subprocess.run(arguments[1].split()).returncode == 77:
        sys.exit(77)
    arguments = arguments[2:]
expected = None
if arguments[0] == "--only-about":
    expected = arguments[1]
    arguments = arguments[2:]
text, command = arguments[0], arguments[1:]
run = subprocess.run(command, capture_output=True, text=True)
sys.stdout.write(run.stdout)
sys.stderr.write(run.stderr)
if run.returncode != 0:
    sys.exit(f"exit status {run.returncode}")
if text not in run.stdout:
    sys.exit(f"'{text}' was not printed")
if expected is not None:
    run.stderr = "".join(line for line in run.stderr.splitlines(True)
                         if not line.startswith("  ") and not (line.startswith("mpiexec: ") and expected in line))
if run.stderr:
    sys.exit("stderr is not empty")
