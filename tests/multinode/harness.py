# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Base classes of the multinode tests."""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402
from processes import wait_until  # noqa: E402,F401 (re-exported)

MPIEXEC = os.environ["TEST_MPIEXEC"]
EXCHANGE = os.environ.get("TEST_EXCHANGE", "")
SECONDS = int(os.environ.get("TEST_SECONDS", "40"))
HERE = os.path.dirname(os.path.abspath(__file__))
LOCAL_AGENT = os.path.join(HERE, "local_agent.sh")
OTHERS = ("PMI", "MPIEXEC_", "SLURM_", "PBS_", "PE_HOSTFILE", "LSB_", "OAR_")


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __repr__(self):
        return f"status {self.code} after {self.seconds:.2f} s\nstdout: {self.out[-2000:]}\nstderr: {self.err[-4000:]}"


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(OTHERS)}
    env.update(extra or {})
    return env


def run(*args, stdin="", env=None):
    """Runs mpiexec on this machine."""
    begin = time.monotonic()
    p = subprocess.run([MPIEXEC, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=SECONDS,
                       env=environment(env))
    return Result(p.returncode, p.stdout, p.stderr, time.monotonic() - begin)


class Case(unittest.TestCase):
    def quiet(self, r):
        self.assertEqual((r.code, r.err), (0, ""), r)

    def only_failures_reported(self, r):
        """The program fault_tolerance was right, and mpiexec reported nothing but failed ranks."""
        self.assertEqual(r.code, 0, r)
        self.assertIn("fault_tolerance: ok", r.out, r)
        messages = [line for line in r.err.splitlines() if not line.startswith("  ")]
        self.assertEqual([line for line in messages if not line.endswith("the others continue")], [], r)


class ClusterCase(Case):
    """One cluster for all tests of a class."""
    HOSTS = 4
    SHARED_NETWORK = False

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.HOSTS, cls.SHARED_NETWORK)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def mpiexec(self, *args, **kw):
        """Runs mpiexec on n1, over all hosts."""
        begin = time.monotonic()
        p = self.cluster.run("n1", [MPIEXEC, "--launch-agent", self.cluster.agent, *args], capture_output=True, text=True,
                             timeout=SECONDS, **kw)
        return Result(p.returncode, p.stdout, p.stderr, time.monotonic() - begin)

    def begin(self, *args):
        return self.cluster.start("n1", [MPIEXEC, "--launch-agent", self.cluster.agent, *args], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)

    def all_hosts(self, slots=1):
        return ",".join(f"n{i + 1}:{slots}" for i in range(self.HOSTS))

    def nothing_left(self, seconds=2):
        self.assertTrue(wait_until(lambda: not self.cluster.left(), seconds), self.cluster.left())


def main():
    try:
        unittest.main(verbosity=2)
    except CannotRun as why:
        print(why)
        sys.exit(SKIP)
