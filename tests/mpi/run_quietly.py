#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command that must succeed, print a text to stdout, and write nothing to stderr.

usage: run_quietly.py TEXT COMMAND ARGUMENTS...
"""
import subprocess
import sys

text, command = sys.argv[1], sys.argv[2:]
run = subprocess.run(command, capture_output=True, text=True)
sys.stdout.write(run.stdout)
sys.stderr.write(run.stderr)
if run.returncode != 0:
    sys.exit(f"exit status {run.returncode}")
if text not in run.stdout:
    sys.exit(f"'{text}' was not printed")
if run.stderr:
    sys.exit("stderr is not empty")
