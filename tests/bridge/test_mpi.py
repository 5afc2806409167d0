# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of tests/mpi over clusters: the list of tests/multinode without `spawn`, whose jobs must reach each other directly.

  TEST_CLUSTERS=z1 or another shape of multi_cluster.py, TEST_SLOTS=1 ranks on each inner host, TEST_PROGRAMS: only these, once each,
  TEST_ENGINE: net.engine"""
import os
import sys
import unittest

from multi_cluster import SKIP, CannotRun
from harness import MultiClusterCase, from_multinode

FOLDER = os.environ["TEST_MPI_FOLDER"]
# Context ids are allocated within the node, independent of the network: fewer of them suffice here.
of_hosts = from_multinode("test_mpi")
RUNS = [(p, ("shared=500",) if p == "contexts" else a, s) for p, a, s in of_hosts.selected() if p != "spawn"]


class Programs(MultiClusterCase):
    SHAPE = os.environ.get("TEST_CLUSTERS", "z1")
    SLOTS = int(os.environ.get("TEST_SLOTS", "1"))

    def test_all(self):
        for program, arguments, settings in RUNS:
            with self.subTest(program=program, arguments=arguments, **settings):
                words = [f"{name}={value}" for name, value in settings.items()]
                r = self.mpiexec("env", *words, os.path.join(FOLDER, program), *arguments, env=of_hosts.with_engine())
                self.quiet(r)
                self.assertIn(f"{program}: ok", r.out)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0]], failfast=True)  # one that hangs takes minutes
    except CannotRun as why:
        print(why)
        sys.exit(SKIP)
