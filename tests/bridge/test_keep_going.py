# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks fail in jobs over clusters started with --keep-going, and the others continue."""
import os

from harness import MultiClusterCase, main

FOLDER = os.environ["TEST_MPI_FOLDER"]


class KeepGoing(MultiClusterCase):
    SHAPE = "z1"

    def survives(self, case, seed):
        r = self.mpiexec("--keep-going", "--timeout", "35", "-n", "4", os.path.join(FOLDER, "fault_tolerance"), case, f"seed={seed}")
        self.only_failures_reported(r)
        self.nothing_left()

    def test_messages(self):
        for case in ("point_to_point", "revoke", "collectives", "agree"):
            with self.subTest(case=case):
                self.survives(case, 1)

    def test_windows(self):
        for seed in (0, 2, 3, 6, 8):  # the case of the test
            with self.subTest(seed=seed):
                self.survives("windows", seed)


class KeepGoingLinked(KeepGoing):
    SHAPE = "z2"

    def test_windows(self):
        self.survives("windows", 2)


class KeepGoingChain(MultiClusterCase):
    """Ranks of a chain of clusters, some of them on the hosts of the gateways."""
    SHAPE = "c3"
    HOSTS = 1
    MULTIHOMED_SLOTS = 1
    survives = KeepGoing.survives

    def test_messages(self):
        for case in ("point_to_point", "revoke", "collectives", "agree"):
            with self.subTest(case=case):
                self.survives(case, 1)


if __name__ == "__main__":
    main()
