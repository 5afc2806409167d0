#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two jobs, each under a separate mpiexec, connect by a port and recover together when processes of them are killed.

usage: connected.py MPIEXEC PROGRAM CASE SEED
"""
import os
import subprocess
import sys
import tempfile

mpiexec, program, case, seed = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "ZIPMPI_DPM_NAME_DIR": folder}
    jobs = [subprocess.Popen([mpiexec, "--keep-going", "--timeout", "60", "-n", "2", program, case, f"seed={seed}", role, "meeting"],
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for role in ("serve", "call")]
    ended = [(*job.communicate(), job.returncode) for job in jobs]
problems = []
for out, err, status in ended:
    if status != 0:
        problems.append(f"exit status {status}")
    for line in err.splitlines():
        if not line.startswith("  ") and not (line.startswith("mpiexec: ") and "was killed by SIGKILL" in line):
            problems.append(f"unexpected: {line}")
if not any("respawn: ok" in out for out, _, _ in ended):
    problems.append("'respawn: ok' was not printed")
if problems:
    sys.exit("\n".join([*problems, *(text for out, err, _ in ended for text in (out, err))]))
print("ok")
