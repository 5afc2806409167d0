#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a benchmark that must succeed, and compares two sizes of each of its results: the larger one may be at most a factor
slower. The better of two runs counts, to tolerate one disturbance of the machine.

usage: run_gate.py SMALL LARGE FACTOR COMMAND ARGUMENTS..."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness.stats import parse  # noqa: E402 pylint: disable=wrong-import-position

small, large, factor, command = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]


def growth():
    """Slowdown of the large size, by name of the result."""
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stdout.write(run.stdout)
    sys.stderr.write(run.stderr)
    if run.returncode != 0:
        sys.exit(f"exit status {run.returncode}")
    values = {(line.name, line.size): line.value for line in parse(run.stdout)}
    return {name: values[name, large] / values[name, small] for name, size in values if size == small}


found = growth()
if max(found.values()) > factor:
    again = growth()
    found = {name: min(value, again[name]) for name, value in found.items()}
for name, value in found.items():
    print(f"{name}: {large} is {value:.2f} times as slow as {small}")
too_slow = [name for name, value in found.items() if value > factor]
if too_slow or not found:
    sys.exit(f"more than {factor:g} times: {', '.join(too_slow) or 'no results'}")
