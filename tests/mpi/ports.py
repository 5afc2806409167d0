#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs under separate mpiexec connect by a service name. One serves, two call in sequence.

usage: ports.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys
import tempfile

mpiexec, program = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "ZIPMPI_DPM_NAME_DIR": folder}
    service = f"ports of {os.getpid()}"

    def start(ranks, *arguments):
        return subprocess.Popen([mpiexec, "--timeout", "60", "-n", str(ranks), program, *arguments], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    server = start(2, "serve", service, "2")
    jobs = [server]
    for ranks in (1, 3):
        jobs.append(start(ranks, "call", service))
        jobs[-1].wait()
    for job in jobs:
        out, err = job.communicate()
        if job.returncode != 0 or "ports: ok" not in out or err:
            sys.exit(f"status {job.returncode}\n{out}\n{err}")
    if os.listdir(folder):
        sys.exit("a published name is left")
print("ok")
