# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The message queues of a stopped rank, as a debugger sees them (tools/msgq)."""
import os
import signal
import subprocess
import unittest

BIN = os.environ["TEST_BIN"]
DEBUGGER = os.environ["TEST_QUEUE_DEBUGGER"]
NOT_PERMITTED = 77


class Queues(unittest.TestCase):
    def setUp(self):
        self.job = subprocess.Popen([f"{BIN}/mpiexec", "-n", "4", os.environ["TEST_QUEUED"]], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.job.stdout.close)
        self.addCleanup(self.job.wait, 30)
        self.addCleanup(self.job.terminate)
        self.pid = int(self.job.stdout.readline())

    def test_stopped_rank(self):
        os.kill(self.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.pid, signal.SIGCONT)
        p = subprocess.run([DEBUGGER, str(self.pid)], capture_output=True, text=True, timeout=30, check=False)
        if p.returncode == NOT_PERMITTED:
            self.skipTest("reading the memory of another process is not permitted")
        self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
        self.assertEqual([line.rstrip() for line in p.stdout.splitlines()], [
            "MPI_COMM_WORLD: rank 0 of 0 1 2 3",
            "  receive from 1 (1) tag 7 bytes 40 status 0",
            "  receive from 2 (2) tag any bytes 20 status 0",
            "  unexpected from 1 (1) tag 8 bytes 16 status 1",
            "MPI_COMM_SELF: rank 0 of 0",
            "mixed: rank 1 of 2 0 3 1",
            "  send to 2 (3) tag 9 bytes 1048576 status 0",
            "  receive from -1 (-1) tag 5 bytes 10 status 0"])


if __name__ == "__main__":
    unittest.main()
