# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Other work on the machine during a comparison: processes that compute without pause."""
import contextlib
import os
import subprocess
import sys

NONE, ONE, CORES = "no", "one", "cores"
CHOICES = (NONE, ONE, CORES)
# Ends with its parent, even if that is killed.
LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(1000000):\n        pass\n"


def start(core=None):
    def bind():
        if core is not None:
            os.sched_setaffinity(0, {core})
    return subprocess.Popen([sys.executable, "-c", LOOP], preexec_fn=bind)  # pylint: disable=subprocess-popen-preexec-fn


@contextlib.contextmanager
def beside(kind):
    """One process that the system may move, or one bound to each core."""
    cores = {NONE: [], ONE: [None], CORES: sorted(os.sched_getaffinity(0))}[kind]
    processes = [start(core) for core in cores]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
