# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of tests/mpi between two hosts with RDMA devices, and evidence that these carried the messages.

Run by ci/softroce.sh inside its virtual machine. The hosts share a network with two devices, so packets are counted on both.

  test_rdma.py          all
  test_rdma.py brief    messages, collectives, windows and locks, within 240 s on an emulated machine
"""
import glob
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode"))
from harness import ClusterCase  # noqa: E402
from test_mpi import FOLDER, RUNS  # noqa: E402

# Only verbs: reliable connections, and datagrams to establish them.
ONLY_RDMA = {"UCX_TLS": "rc"}


def packets():
    """Packets sent by the RDMA devices."""
    sent = 0
    for name in glob.glob("/sys/class/infiniband/*/ports/*/hw_counters/sent_pkts"):
        with open(name, encoding="ascii") as f:
            sent += int(f.read())
    return sent


class Rdma(ClusterCase):
    HOSTS = 2
    SHARED_NETWORK = True

    def program(self, program, *arguments, ranks=1, **settings):
        # An emulated machine is slow: daemons that are not scheduled in time would be declared failed.
        words = [f"{name}={value}" for name, value in {"ZIPMPI_WAIT_NET_SPINS": 10, **settings}.items()]
        return self.mpiexec("-n", str(2 * ranks), "--host", f"n1:{ranks},n2:{ranks}", "nice", "env", *words,
                            os.path.join(FOLDER, program), *arguments)

    def test_connections_are_reliable(self):
        r = self.program("requests", UCX_LOG_LEVEL="info", **ONLY_RDMA)
        self.quiet(r)
        self.assertRegex(r.out, r"ep_cfg\[\d+\]: .*\bam\(rc_verbs/rxe\d:1")
        self.assertNotIn("tcp/", r.out)

    def test_devices_are_found(self):
        """By default RDMA is used although TCP is available, and reported."""
        r = self.mpiexec("-n", "2", "--host", "n1:1,n2:1", "zipmpi", "info", "--network")
        self.quiet(r)
        for rank in (0, 1):
            self.assertRegex(r.out, rf"rank {rank} on host n{rank + 1}: node {rank} of 2")
        self.assertRegex(r.out, r"devices .*v\d,rxe\d:1")
        self.assertRegex(r.out, r"rxe\d:1 provides RDMA on it")
        r = self.program("requests", UCX_LOG_LEVEL="info")
        self.quiet(r)
        self.assertRegex(r.out, r"ep_cfg\[\d+\]: .*\bam\(rc_verbs/rxe\d:1")
        self.assertNotIn("(tcp/", r.out)

    def test_named_devices_win(self):
        before = packets()
        r = self.program("requests", ZIPMPI_NET_DEVICES="v1")
        self.quiet(r)
        self.assertEqual(packets(), before)


class IdleTarget(ClusterCase):
    """Windows of a rank stopped by SIGSTOP, with each kind of lock that does not involve it; cpu needs its progress thread."""
    HOSTS = 2
    SHARED_NETWORK = True

    def idle_target(self, how, lock):
        before = packets()
        r = self.mpiexec("-n", "2", "--host", "n1:1,n2:1", "nice", "env", "ZIPMPI_WAIT_NET_SPINS=10", "ZIPMPI_RMA_ATOMICS=network",
                         f"ZIPMPI_RMA_LOCK_MODE={lock}", os.path.join(FOLDER, "../rdma/idle_target"), how)
        self.quiet(r)
        self.assertIn("idle_target: ok", r.out)
        self.assertGreater(packets(), before + 500)

    def test_stopped_network(self):
        self.idle_target("stop", "network")

    def test_stopped_hybrid(self):
        self.idle_target("stop", "hybrid")

    def test_computing_cpu(self):
        self.idle_target("compute", "cpu")


class DeviceAccess(unittest.TestCase):
    def test_stopped_target(self):
        """Put, get, atomics and a lock on memory of a stopped process."""
        before = packets()
        p = subprocess.run([os.path.join(FOLDER, "../rdma/rdma_device"), "rxe2:1", "rxe1:1"], capture_output=True, text=True,
                           timeout=300, check=False)
        self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
        self.assertEqual(p.stdout.count("while the target was stopped"), 2)
        self.assertIn("rdma_device: ok", p.stdout)
        self.assertGreater(packets(), before + 1000)


def add_programs():
    """Adds one test per program, so that the summary lists them."""

    def make(program, arguments, settings):
        def test(self):
            begin, before = time.monotonic(), packets()
            r = self.program(program, *arguments, **settings, **ONLY_RDMA)
            self.quiet(r)
            self.assertIn(f"{program}: ok", r.out)
            sent = packets() - before
            self.assertGreater(sent, 0)
            print(f"{sent} packets, {time.monotonic() - begin:.1f} s", end=" ", flush=True)

        return test

    for number, run in enumerate(RUNS):
        setattr(Rdma, f"test_{number:02}_{run[0]}", make(*run))


add_programs()

# Messages (eager, rendezvous), collectives, one-sided operations, fences and locks. RUNS of tests/multinode/test_mpi.py numbers
# the programs, so they are named.
BRIEF_PROGRAMS = ("requests", "collectives", "windows")
BRIEF_TESTS = ("Rdma.test_devices_are_found", "Rdma.test_named_devices_win", "DeviceAccess.test_stopped_target",
               "IdleTarget.test_stopped_network", "IdleTarget.test_stopped_hybrid")


def brief():
    found = [f"Rdma.test_{number:02}_{run[0]}" for number, run in enumerate(RUNS) if run[0] in BRIEF_PROGRAMS and not run[2]]
    assert len(found) == len(BRIEF_PROGRAMS), found
    return [*BRIEF_TESTS, *found]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(brief() if sys.argv[1:] == ["brief"] else sys.argv[1:])], verbosity=2)
