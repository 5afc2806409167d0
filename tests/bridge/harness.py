# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the bridge share; the rest comes from tests/cluster."""
import importlib.util
import os
import subprocess
import time

from grids import Grid

HERE = os.path.dirname(os.path.abspath(__file__))


def from_tests(folder, name):
    """A module of another folder of tests, which may have the name of one here."""
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", os.path.join(HERE, "..", folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def from_cluster(name):
    return from_tests("cluster", name)


cluster_harness = from_cluster("harness")
ClusterCase = cluster_harness.ClusterCase  # for modules of tests/cluster
EXCHANGE, MPIEXEC, SECONDS = cluster_harness.EXCHANGE, cluster_harness.MPIEXEC, cluster_harness.SECONDS
HELPERS = os.environ.get("TEST_BRIDGE_HELPERS", "")
STANDIN, ASK = os.path.join(HELPERS, "standin_gateway"), os.path.join(HELPERS, "ask_gateways")
Case, Result, main, wait_until = cluster_harness.Case, cluster_harness.Result, cluster_harness.main, cluster_harness.wait_until


class GridCase(Case):
    """One grid for all tests of a class."""
    SHAPE = "z1"
    SLOTS = 1
    HOSTS = 2
    ZIPPER_SLOTS = 0

    @classmethod
    def setUpClass(cls):
        cls.grid = Grid(cls.SHAPE, cls.SLOTS, cls.HOSTS, cls.ZIPPER_SLOTS)
        cls.grid.__enter__()
        cls.addClassCleanup(cls.grid.__exit__)

    def options(self):
        return [MPIEXEC, "--launch-agent", self.grid.agent, "--grid", self.grid.file]

    def mpiexec(self, *args, on="front", **kw):
        begin = time.monotonic()
        p = self.grid.run(on, [*self.options(), *args], capture_output=True, text=True, timeout=SECONDS, **kw)
        return Result(p.returncode, p.stdout, p.stderr, time.monotonic() - begin)

    def begin(self, *args, on="front"):
        p = self.grid.start(on, [*self.options(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        return p

    def named(self, host, name):
        return self.grid.named(host, name)

    def left(self):
        return self.grid.left()

    def nothing_left(self, seconds=3):
        self.assertTrue(wait_until(lambda: not self.left(), seconds), self.left())
