# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Number of intercluster messages of one call, counted by a gateway that connects all clusters: with a root, one message per
other cluster; otherwise one from each cluster to each other, so that no rank waits for two in sequence.

One job runs all operations, each a different number of times, so that an error in one shows in the sum; if the sum is wrong
each operation is counted separately."""
import os
import re

from harness import HELPERS, MultiClusterCase, main

ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
ALL = ("barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter_block", "reduce_scatter",
       "ialltoallv")
SCANS = ("scan", "exscan")
RING = ("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")
TIMES = (1, 2, 3, 5, 7, 11, 13, 4, 6, 8, 9, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25)


def expected(clusters):
    each_other = clusters * (clusters - 1)
    ring = 2 if clusters == 2 else 2 * clusters  # pairs of clusters with an edge between them, both directions
    made = 3 * (clusters - 1)  # creation, broadcast and free of a communicator: one message from both ranks of each other cluster
    return {**dict.fromkeys(ROOTED, clusters - 1), **dict.fromkeys(ALL, each_other), **dict.fromkeys(SCANS, each_other // 2),
            **dict.fromkeys(RING, ring), "comm_dup": made, "comm_split": each_other + made}


class TrafficCounts(MultiClusterCase):
    SHAPE = "m2"
    CLUSTERS = 2
    HOSTS = 2

    def crossed(self, size, times):
        r = self.mpiexec(os.path.join(HELPERS, "intercluster_traffic"), size, *(f"{o}={n}" for o, n in times.items()),
                         env={"ZIPMPI_GATEWAY_REPORT": "yes"})
        self.assertEqual((r.code, r.out), (0, ""), r)
        return int(re.fullmatch(r"zipmpi-gateway: gateway 0 on host z forwarded (\d+) messages .*dropped 0, rejected 0 frames\n",
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
            self.fail(f"the counts of single operations are right for {size} bytes, their sum is not")


class TrafficCountsThree(TrafficCounts):
    SHAPE, CLUSTERS, HOSTS, SLOTS = "m3", 3, 1, 2


class TrafficCountsFour(TrafficCounts):
    SHAPE, CLUSTERS, HOSTS, SLOTS = "m4", 4, 1, 2


if __name__ == "__main__":
    main()
