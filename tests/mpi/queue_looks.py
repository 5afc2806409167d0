#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A receiver that looks only where it expects something looks at fewer rings, by the factor that the pattern predicts.

usage: queue_looks.py MPIEXEC PROGRAM RANKS
Each rank receives from its left neighbor, and all ranks have met: `pairs` looks at all rings in every round, `expected`
at one. How many rounds a rank waits depends on the machine, so that the ratio is demanded to be a third of that at least.
"""
import os
import re
import subprocess
import sys

mpiexec, program, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])


def looks(design):
    run = subprocess.run([mpiexec, "-n", str(ranks), program, "ring", "rounds=300"], capture_output=True, text=True,
                         env=dict(os.environ, ZIPMPI_SHM_QUEUES=design))
    if run.returncode != 0 or run.stderr:
        sys.exit(f"{design}: exit status {run.returncode}\n{run.stderr}")
    return float(re.search(r"([\d.]+) looks each", run.stdout).group(1))


pairs, expected = looks("pairs"), looks("expected")
print(f"rings looked at for each message: pairs {pairs}, expected {expected}: {pairs / expected:.1f} times fewer")
if pairs < expected * (ranks - 1) / 3:
    sys.exit(f"at least {(ranks - 1) / 3:.0f} times fewer are wanted")
