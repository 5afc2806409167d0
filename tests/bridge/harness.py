# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Base classes of the bridge tests, on top of those of tests/multinode."""
import importlib.util
import os
import subprocess
import time

from multi_cluster import MultiCluster

HERE = os.path.dirname(os.path.abspath(__file__))


def from_tests(folder, name):
    """A module of another folder of tests; its name may equal that of one here."""
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", os.path.join(HERE, "..", folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def from_multinode(name):
    return from_tests("multinode", name)


multinode_harness = from_multinode("harness")
ClusterCase = multinode_harness.ClusterCase  # for modules of tests/multinode
EXCHANGE, MPIEXEC, SECONDS = multinode_harness.EXCHANGE, multinode_harness.MPIEXEC, multinode_harness.SECONDS
HELPERS = os.environ.get("TEST_BRIDGE_HELPERS", "")
STUB_GATEWAY, QUERY_GATEWAYS = os.path.join(HELPERS, "stub_gateway"), os.path.join(HELPERS, "query_gateways")
Case, Result, main, wait_until = multinode_harness.Case, multinode_harness.Result, multinode_harness.main, multinode_harness.wait_until


class MultiClusterCase(Case):
    """One set of clusters for all tests of a class."""
    SHAPE = "z1"
    SLOTS = 1
    HOSTS = 2
    MULTIHOMED_SLOTS = 0

    @classmethod
    def setUpClass(cls):
        cls.clusters = MultiCluster(cls.SHAPE, cls.SLOTS, cls.HOSTS, cls.MULTIHOMED_SLOTS)
        cls.clusters.__enter__()
        cls.addClassCleanup(cls.clusters.__exit__)

    def options(self):
        return [MPIEXEC, "--launch-agent", self.clusters.agent, "--clusters", self.clusters.file]

    def mpiexec(self, *args, on="front", **kw):
        begin = time.monotonic()
        p = self.clusters.run(on, [*self.options(), *args], capture_output=True, text=True, timeout=SECONDS, **kw)
        return Result(p.returncode, p.stdout, p.stderr, time.monotonic() - begin)

    def begin(self, *args, on="front"):
        p = self.clusters.start(on, [*self.options(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        return p

    def named(self, host, name):
        return self.clusters.named(host, name)

    def traffic(self, host):
        """Bytes that a host has received in all networks."""
        with open(f"/proc/{self.clusters[host].pid}/net/dev") as f:
            return sum(int(line.split(":")[1].split()[0]) for line in f if "eth" in line)

    def gateway(self, host, received):
        """Waits until the gateway of a host runs, and until the host has received this many bytes more. Returns its pid."""
        self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30), f"no gateway on {host}")
        least = self.traffic(host) + received
        self.assertTrue(wait_until(lambda: self.traffic(host) >= least, 60), f"no traffic on {host}")
        return self.named(host, "zipmpi-gateway")[0]

    def left(self):
        return self.clusters.left()

    def nothing_left(self, seconds=3):
        self.assertTrue(wait_until(lambda: not self.left(), seconds), self.left())
