# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rebinding for a program whose partners change: partners share a core before they change again, or mpiexec has measured that
this does not pay. Either way MPI_Comm_split_type reports afterwards which ranks share a core. (It takes a second on a quiet
machine: docs/decisions/0024.)

usage: rebinding.py MPIEXEC PROGRAM [PHASES] [SECONDS]
       rebinding.py MPIEXEC PROGRAM remap    the program asks for it by MPIX_Remap
"""
import os
import re
import subprocess
import sys

mpiexec, program = sys.argv[1:3]
phases, seconds = (sys.argv[3:] + ["3", "3.5"][len(sys.argv) - 3:])[:2]
cpus = sorted(os.sched_getaffinity(0))[:2]
if len(cpus) < 2:
    print("needs two CPUs")
    sys.exit(77)
os.sched_setaffinity(0, cpus)
if sys.argv[3:] == ["remap"]:
    run = subprocess.run([mpiexec, "-n", "8", "--bind-to", "none", program, "remap"], capture_output=True, text=True, timeout=100)
    print(run.stdout, run.stderr, sep="")
    sys.exit(0 if run.returncode == 0 and run.stdout == "rebinding: ok\n" and run.stderr == "" else 1)
run = subprocess.run([mpiexec, "-n", "8", "--bind-to", "none", program, phases, seconds], capture_output=True, text=True, timeout=200,
                     env={**os.environ, "ZIPMPI_LAUNCH_REBIND_INTERVAL": "1", "ZIPMPI_LAUNCH_REBIND_REPORT": "yes"})
print(run.stdout, run.stderr, sep="")
found = re.findall(r"phase \d+: shared (-?[\d.]+) exchanges \d+ localities -?\d+\n", run.stdout)
refused = "does not pay" in run.stderr
late = [t for t in found if float(t) < 0]
stale = re.findall(r"localities 0\n", run.stdout)
if stale:
    print("ranks were rebound, and their localities are stale")
if run.returncode != 0 or stale or len(found) != int(phases) or (late and not refused):
    sys.exit(1)
