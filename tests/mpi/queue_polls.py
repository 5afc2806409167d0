#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A receiver that polls only the rings of expected senders polls fewer rings, by the factor that the pattern predicts.

usage: queue_polls.py MPIEXEC PROGRAM RANKS
Each rank receives from its left neighbor, after all ranks have exchanged messages: `all_rings` polls all rings in every round,
`expected` one. The number of rounds depends on the machine, so the required ratio is a third of the ideal.
"""
import os
import re
import subprocess
import sys

mpiexec, program, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])


def polls(mode):
    run = subprocess.run([mpiexec, "-n", str(ranks), program, "ring", "rounds=300"], capture_output=True, text=True,
                         env=dict(os.environ, ZIPMPI_SHM_POLL_MODE=mode))
    if run.returncode != 0 or run.stderr:
        sys.exit(f"{mode}: exit status {run.returncode}\n{run.stderr}")
    return float(re.search(r"([\d.]+) polls each", run.stdout).group(1))


all_rings, expected = polls("all_rings"), polls("expected")
print(f"rings polled per message: all_rings {all_rings}, expected {expected}: {all_rings / expected:.1f} times fewer")
if all_rings < expected * (ranks - 1) / 3:
    sys.exit(f"at least {(ranks - 1) / 3:.0f} times fewer are required")
