# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Startup of jobs over two clusters: the tree of daemons, keys and fences, gateway processes."""
from harness import QUERY_GATEWAYS, EXCHANGE, STUB_GATEWAY, MultiClusterCase, main

NODES = "echo $PMI_RANK/$PMI_SIZE $ZIPMPI_NODE_INDEX/$ZIPMPI_NODES $(hostname)"


class Z1(MultiClusterCase):
    GATEWAYS = 1

    def mpiexec(self, *args, **kw):
        return super().mpiexec("--env", f"ZIPMPI_GATEWAY_PROGRAM={STUB_GATEWAY}", *args, **kw)

    def test_rank_order(self):
        r = self.mpiexec("-n", 4, "sh", "-c", NODES)
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0/4 0/4 a1", "1/4 1/4 a2", "2/4 2/4 b1", "3/4 3/4 b2"])
        r = self.mpiexec("-n", 8, "--map-by", "node", "sh", "-c", NODES)
        self.quiet(r)
        self.assertEqual([line.split()[2] for line in sorted(r.out.splitlines())], ["a1", "a2", "a1", "a2", "b1", "b2", "b1", "b2"])
        self.nothing_left()

    def test_one_rank_per_slot_without_a_count(self):
        r = self.mpiexec("hostname")
        self.quiet(r)
        self.assertEqual(sorted(r.out.split()), ["a1", "a2", "b1", "b2"])

    def test_values_cross_clusters_in_trees_of_any_shape(self):
        for width in (1, 32):
            r = self.mpiexec("-n", 8, "--launch-fanout", width, EXCHANGE)
            self.quiet(r)
            self.assertEqual(len(r.out.splitlines()), 8, r)
        self.nothing_left()

    def test_values_cross_clusters_with_pmix(self):
        r = self.mpiexec("-n", 4, "--pmix", "yes", "env", "-u", "ZIPMPI_NODE_FD", "-u", "PMI_FD", EXCHANGE)
        self.quiet(r)
        self.assertEqual(len(r.out.splitlines()), 4, r)

    def test_ranks_read_keys_of_gateways(self):
        r = self.mpiexec("-n", 4, QUERY_GATEWAYS, 3)
        self.quiet(r)
        self.assertEqual(r.out.splitlines(), ["epochs" + " 1" * self.GATEWAYS] * 12)
        self.nothing_left()

    def test_input_reaches_rank_0(self):
        r = self.mpiexec("-n", 4, "sh", "-c", "test $PMI_RANK = 0 && cat; true", stdin=None, input="one\ntwo\n")
        self.quiet(r)
        self.assertEqual(r.out, "one\ntwo\n")


class Z2(Z1):
    SHAPE = "z2"
    GATEWAYS = 2


class Z1Overlapping(Z1):
    SHAPE = "z1o"

    def test_started_on_multihomed_host(self):
        r = self.mpiexec("-n", 4, EXCHANGE, on="z")
        self.quiet(r)


class Z2Overlapping(Z2):
    SHAPE = "z2o"

    def test_started_on_gateway_host(self):
        r = self.mpiexec("-n", 4, EXCHANGE, on="g1")
        self.quiet(r)


class Many(MultiClusterCase):
    """Clusters in a chain and in a star."""
    SHAPE = "s4"

    def test_values_cross_all_clusters(self):
        env = {"ZIPMPI_GATEWAY_PROGRAM": STUB_GATEWAY}
        count = 2 * len(self.clusters.sides)
        r = self.mpiexec(EXCHANGE, env=env)
        self.quiet(r)
        self.assertEqual(len(r.out.splitlines()), count, r)
        r = self.mpiexec(QUERY_GATEWAYS, env=env)
        self.quiet(r)
        self.assertEqual(r.out.splitlines(), ["epochs" + " 1" * len(self.clusters.edges)] * count)
        self.nothing_left()


class Chain(Many):
    SHAPE = "c3"


class TwoGateways(Z1):
    SHAPE = "z1x2"
    GATEWAYS = 2


if __name__ == "__main__":
    main()
