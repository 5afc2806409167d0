# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Spawned jobs and ports within the clusters of a job, as docs/guide/spawn.md says. Gateways do not relay messages between jobs: an
attempt is refused."""
import os

from harness import HELPERS, MultiClusterCase, main


class SpawnInCluster(MultiClusterCase):
    SHAPE = "z1"

    def test_each_cluster_spawns_and_connects(self):
        sides = len(self.clusters.sides)
        r = self.mpiexec("-n", 2 * sides, os.path.join(HELPERS, "spawn_in_cluster"))
        self.quiet(r)
        self.assertEqual(r.out, "spawned by 2\n" * sides)
        self.nothing_left()

    def test_attempt_over_gateways_is_refused(self):
        ranks = 2 * len(self.clusters.sides)
        r = self.mpiexec("-n", ranks, os.path.join(HELPERS, "spawn_in_cluster"), "over_gateways")
        self.quiet(r)
        lines = r.out.splitlines()
        self.assertEqual(len(lines), ranks, r)
        for line in lines:
            self.assertRegex(line, "^1 .*ranks 0 and .* are in different clusters, and gateways do not relay", r)
        self.nothing_left()


class SpawnInClusterLinked(SpawnInCluster):
    SHAPE = "z2"


class SpawnInClusterOfChain(SpawnInCluster):
    SHAPE = "c3"


if __name__ == "__main__":
    main()
