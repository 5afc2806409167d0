# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs with many ranks on one host, and on many hosts: what a rank costs does not depend on their number."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from large_jobs import SKIP, CannotRun, Cluster, figures, kill_launcher, kill_ranks, run_hosts, run_ranks

MPIEXEC = os.environ["TEST_MPIEXEC"]
PROGRAM = os.environ["TEST_LARGE_JOB"]
FEW, MANY = 200, 1000
WINDOW_KIB = 24  # from malloc; the regions of 1000 members would be 40 KiB
SPREAD = 1.15  # private memory differs between runs: 310 or 360 KiB with 200 ranks, 350 or 365 with 1000; not examined
PAGES_KIB = 16  # four pages: which tables share a page depends on the number of ranks


class ManyRanks(unittest.TestCase):
    def test_cost_of_a_rank(self):
        few, many = (run_ranks(MPIEXEC, PROGRAM, n, windows=2) for n in (FEW, MANY))
        print(few, many, sep="\n")
        self.assertLess(many["private_kib"], few["private_kib"] * SPREAD)
        self.assertLess(many["page_tables_kib"], few["page_tables_kib"] + 2 * PAGES_KIB)
        self.assertEqual(many["descriptors"], few["descriptors"])  # size of the kernel's table
        self.assertLess(many["window_kib"], WINDOW_KIB)
        # Linear in the ranks would be a factor of 5; other load on this machine only makes it larger.
        self.assertLess(many["switches"], 3 * few["switches"])

    def test_killed_launcher(self):
        self.assertLess(kill_launcher(MPIEXEC, PROGRAM, 500), 5)  # processes of ranks and daemons, files

    def kill_a_tenth(self, ranks, keep_going):
        found = kill_ranks(MPIEXEC, os.environ["TEST_SURVIVORS"], ranks, keep_going, 60)
        print(found)
        self.assertEqual(found["killed"], ranks // 10)
        self.assertLess(found["clean"], 10)
        return found

    def test_killed_tenth(self):
        self.assertEqual(self.kill_a_tenth(FEW, False)["status"], 128 + signal.SIGKILL)

    def test_killed_tenth_without_end(self):
        found = self.kill_a_tenth(MANY, True)
        self.assertEqual(found["survivors"], MANY - MANY // 10)
        self.assertLess(found["agreed"], 10)  # 1 s; a minute if each result for a rank wakes all ranks


class ManyHosts(unittest.TestCase):
    HOSTS = 20

    def test_start(self):
        with Cluster(self.HOSTS) as cluster:
            found = run_hosts(MPIEXEC, PROGRAM, cluster, self.HOSTS, 5)
            print(found)
            self.assertEqual(found["ranks"], self.HOSTS * 5)
            self.assertEqual(cluster.left(), {})


class Simulation(unittest.TestCase):
    """The simulated collectives send the messages that real ones send."""
    RANKS, RANKS_PER_NODE = 64, 8
    CALLS = (("barrier", 0), ("broadcast", 8), ("allreduce", 8), ("allreduce", 1 << 20), ("alltoall", 8))

    def sent(self, name, size):
        """Messages and bytes of a real job; groups of ranks act as nodes."""
        with tempfile.NamedTemporaryFile(mode="r") as matrix:
            env = dict(os.environ, ZIPMPI_MATRIX_FILE=matrix.name, ZIPMPI_COLL_DEBUG_NODES=str(self.RANKS_PER_NODE))
            subprocess.run([MPIEXEC, "-n", str(self.RANKS), os.environ["TEST_ONE_COLLECTIVE"], name, str(size)], check=True, env=env,
                           stdin=subprocess.DEVNULL, timeout=60)
            rows = [list(map(int, line.split())) for line in matrix if line[0].isdigit()]
        return sum(row[4] for row in rows), sum(row[5] for row in rows)

    def test_messages(self):
        for name, size in self.CALLS:
            with self.subTest(name=name, size=size):
                line = subprocess.run([os.environ["TEST_SIMULATE"], f"{name}:{size}", str(self.RANKS), str(self.RANKS_PER_NODE)],
                                      check=True, capture_output=True, text=True, timeout=60).stdout
                simulated = figures(line)
                self.assertEqual((simulated["messages"], simulated["bytes"]), self.sent(name, size))


if __name__ == "__main__":
    try:
        unittest.main(verbosity=2)
    except CannotRun as why:
        print(why)
        sys.exit(SKIP)
