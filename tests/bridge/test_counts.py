# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""How many messages cross between clusters for one call, counted by a gateway that joins them all: one where there is a root,
from or to each other cluster; else one from each cluster to each other, so that nothing waits for two.

A job does all operations, each so many times that a mistake in one cannot hide in the sum; if the sum is wrong each is counted
by itself."""
import os
import re

from harness import HELPERS, GridCase, main

ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
ALL = ("barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter_block", "reduce_scatter",
       "ialltoallv")
SCANS = ("scan", "exscan")
RING = ("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")
TIMES = (1, 2, 3, 5, 7, 11, 13, 4, 6, 8, 9, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25)


def expected(clusters):
    each_other = clusters * (clusters - 1)
    ring = 2 if clusters == 2 else 2 * clusters  # pairs of clusters with an edge between them, both ways
    made = 3 * (clusters - 1)  # a communicator made, a broadcast, and freed: both ranks of each other cluster say so
    return {**dict.fromkeys(ROOTED, clusters - 1), **dict.fromkeys(ALL, each_other), **dict.fromkeys(SCANS, each_other // 2),
            **dict.fromkeys(RING, ring), "comm_dup": made, "comm_split": each_other + made}


class Counted(GridCase):
    SHAPE = "m2"
    CLUSTERS = 2
    HOSTS = 2

    def crossed(self, size, times):
        r = self.mpiexec(os.path.join(HELPERS, "crossings"), size, *(f"{o}={n}" for o, n in times.items()),
                         env={"ZIPMPI_BRIDGE_REPORT": "yes"})
        self.assertEqual((r.code, r.out), (0, ""), r)
        return int(re.fullmatch(r"zipmpi-gateway: gateway 0 on host z passed on (\d+) messages .*dropped 0, refused 0 frames\n",
                                r.err)[1])

    def test_messages_of_each_collective(self):
        each = expected(self.CLUSTERS)
        times = dict(zip(each, TIMES))
        without = self.crossed(8, {})
        for size in (8, 4096, 100000):
            if self.crossed(size, times) - without == sum(each[o] * n for o, n in times.items()):
                continue
            for operation, wanted in each.items():
                with self.subTest(operation=operation, size=size):
                    self.assertEqual(self.crossed(size, {operation: 3}) - without, wanted * 3)
            self.fail(f"each operation by itself is right for {size} bytes, all together are not")


class CountedThree(Counted):
    SHAPE, CLUSTERS, HOSTS, SLOTS = "m3", 3, 1, 2


class CountedFour(Counted):
    SHAPE, CLUSTERS, HOSTS, SLOTS = "m4", 4, 1, 2


if __name__ == "__main__":
    main()
