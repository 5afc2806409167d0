# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of tests/mpi across hosts: network between them, shared memory on each.

  test_mpi.py HOSTSxRANKS    HOSTS hosts with RANKS ranks each
"""
import os
import sys
import unittest

from cluster import SKIP, CannotRun
from harness import ClusterCase

FOLDER = os.environ["TEST_MPI_FOLDER"]
ROUNDS = int(os.environ.get("TEST_ROUNDS", "40"))
SHAPE = os.environ.get("TEST_SHAPE", "2x1")
# program, arguments, settings
PLAIN = ("attributes", "buffered", "bursts", "cancel", "communicators", "datatypes", "error_codes", "files", "files_errors", "generalized", "groups", "infos",
         "intercommunicators", "matched_probe", "matrix", "partitioned", "persistent", "requests", "sessions", "tool_interface", "topologies", "aliased_buffers",
         "collectives", "reorder", "spawn", "windows", "windows_errors", "windows_hints", "windows_nonblocking")
RUNS = [(name, (), {}) for name in PLAIN] + [
    ("contexts", ("shared=70000" if SHAPE == "2x1" else "shared=2000",), {}),
    ("random_messages", ("seed=1", f"rounds={ROUNDS}"), {}),
    ("random_messages", ("seed=2", f"rounds={ROUNDS}"), {"ZIPMPI_NET_EAGER_LIMIT": "64", "ZIPMPI_NET_NONCONTIG_EAGER_LIMIT": "64"}),
    ("random_messages", ("seed=14", f"rounds={ROUNDS}"), {"ZIPMPI_P2P_UNEXPECTED_LIMIT": "0"}),
    ("random_messages", ("seed=3", f"rounds={ROUNDS // 4}", "threads=3"), {}),
    ("random_collectives", ("seed=4", f"rounds={ROUNDS}"), {}),
    ("random_collectives", ("seed=5", f"rounds={ROUNDS // 4}", "threads=2"), {}),
    ("random_collectives", ("seed=6", f"rounds={ROUNDS // 4}"), {"ZIPMPI_COLL_HIERARCHICAL": "no"}),
    ("random_collectives", ("seed=7", f"rounds={ROUNDS // 4}"), {"ZIPMPI_COLL_REPRODUCIBLE": "yes"}),
    ("random_collectives", ("seed=8", f"rounds={ROUNDS // 4}"), {"ZIPMPI_COLL_COST_NET_MESSAGE_NS": "1"}),
    ("random_files", ("seed=13", f"rounds={ROUNDS // 2}"), {}),
    ("threads", (f"rounds={ROUNDS}",), {}),
    ("windows_busy_target", (), {}),
    ("windows_nonblocking", (), {"ZIPMPI_RMA_FENCE_COUNT_MAX_RANKS": "0"}),
    ("random_windows", ("seed=9", f"rounds={ROUNDS}"), {}),
    ("random_windows", ("seed=10", f"rounds={ROUNDS // 4}", "threads=3"), {}),
    ("random_windows", ("seed=11", f"rounds={ROUNDS // 2}"), {"ZIPMPI_RMA_FENCE_COUNT_MAX_RANKS": "0"}),
    ("random_windows", ("seed=12", f"rounds={ROUNDS // 2}"), {"ZIPMPI_CMA_ENABLE": "no"}),
]


class Programs(ClusterCase):
    HOSTS, RANKS = map(int, SHAPE.split("x"))

    def test_all(self):
        hosts = ",".join(f"n{i + 1}:{self.RANKS}" for i in range(self.HOSTS))
        for program, arguments, settings in RUNS:
            with self.subTest(program=program, arguments=arguments, **settings):
                words = [f"{name}={value}" for name, value in settings.items()]
                r = self.mpiexec("-n", str(self.HOSTS * self.RANKS), "--host", hosts, "env", *words,
                                 os.path.join(FOLDER, program), *arguments)
                self.quiet(r)
                self.assertIn(f"{program}: ok", r.out)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0]])
    except CannotRun as why:
        print(why)
        sys.exit(SKIP)
