# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks and hosts fail in jobs started with --keep-going, and the others continue."""
import os
import signal
import time

from harness import ClusterCase, main

FOLDER = os.environ["TEST_MPI_FOLDER"]
MESSAGE_AUDIT = os.path.join(os.path.dirname(os.environ["CLUSTER_TOOL"]), "message_audit")


class FaultTolerance(ClusterCase):
    HOSTS = 3

    def survives(self, case, seed, slots=2):
        r = self.mpiexec("--keep-going", "--timeout", "35", "-n", self.HOSTS * slots, "--host", self.all_hosts(slots),
                         os.path.join(FOLDER, "fault_tolerance"), case, f"seed={seed}")
        self.only_failures_reported(r)
        self.nothing_left()

    def test_point_to_point(self):
        self.survives("point_to_point", 1)
        self.survives("point_to_point", 1, slots=1)

    def test_flood(self):
        self.survives("flood", 1)

    def test_revoke(self):
        self.survives("revoke", 1)

    def test_collectives(self):
        for seed in range(1, 4):
            self.survives("collectives", seed)

    def test_windows(self):
        for seed in range(9):  # the case of the test
            self.survives("windows", seed, slots=1 + seed % 2)

    def test_files_and_ports(self):
        for case, seed in (("files", 1), ("ports", 0), ("ports", 1)):
            self.survives(case, seed, slots=1)

    def test_agree(self):
        for seed in range(1, 4):
            self.survives("agree", seed)


class FailedHost(ClusterCase):
    HOSTS = 3

    def test_host_is_killed(self):
        for width in (1, 32):
            p = self.begin("--keep-going", "--launch-fanout", width, "--timeout", "35", "-n", 6, "--host", self.all_hosts(2),
                           MESSAGE_AUDIT, 5, 3, "keep-going")
            self.addCleanup(p.stderr.close)
            self.addCleanup(p.stdout.close)
            for _ in range(6):
                self.assertEqual(p.stdout.readline(), "here\n")
            time.sleep(0.5)
            for pid in self.cluster.pids("n3"):
                os.kill(pid, signal.SIGKILL)
            out, err = p.communicate(timeout=40)
            self.assertEqual((p.returncode, out.count("over")), (0, 4), out + err)
            self.assertIn("its ranks count as failed", err)
            self.nothing_left()


if __name__ == "__main__":
    main()
