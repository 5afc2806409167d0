# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of tests/mpi across hosts: network between them, shared memory on each.

  TEST_SHAPE=2x4 HOSTSxRANKS    HOSTS hosts with RANKS ranks each
  TEST_ENGINE=ucx               net.engine; without it, that of the library
  TEST_PROGRAMS="a b"           only these programs, each once
"""
import os
import sys
import unittest

from cluster import SKIP, CannotRun
from harness import MPIEXEC, ClusterCase

FOLDER = os.environ["TEST_MPI_FOLDER"]
ROUNDS = int(os.environ.get("TEST_ROUNDS", "40"))
SHAPE = os.environ.get("TEST_SHAPE", "2x1")
ENGINE = os.environ.get("TEST_ENGINE", "")
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


def selected():
    """The runs of TEST_PROGRAMS."""
    names = os.environ.get("TEST_PROGRAMS", "").split()
    return [next(run for run in RUNS if run[0] == name) for name in names] or RUNS


def with_engine():
    """Variables of mpiexec: also daemons and gateways read them."""
    return {"ZIPMPI_NET_ENGINE": ENGINE} if ENGINE else {}


class Programs(ClusterCase):
    HOSTS, RANKS = map(int, SHAPE.split("x"))

    def job(self, *words):
        r = self.mpiexec("-n", str(self.HOSTS * self.RANKS), "--host", self.all_hosts(self.RANKS), "env", *words, env=with_engine())
        self.quiet(r)
        return r.out

    def test_engine(self):
        if ENGINE:
            out = self.job(os.path.join(os.path.dirname(MPIEXEC), "zipmpi"), "info", "--network")
            self.assertEqual(out.count(f"  engine  {ENGINE}\n"), self.HOSTS * self.RANKS, out)

    def test_all(self):
        for program, arguments, settings in selected():
            with self.subTest(program=program, arguments=arguments, **settings):
                words = [f"{name}={value}" for name, value in settings.items()]
                out = self.job(*words, os.path.join(FOLDER, program), *arguments)
                self.assertIn(f"{program}: ok", out)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0]])
    except CannotRun as why:
        print(why)
        sys.exit(SKIP)
