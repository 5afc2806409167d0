# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Clusters 10 ms apart: a barrier, a broadcast and a small allreduce wait for one message, not for two.

  TEST_MOST=1.15: the bar, on a machine that does nothing else; then also what was measured is printed."""
import os
import re

from harness import HELPERS, GridCase, main

AWAY = 10000  # microseconds
BAR = os.environ.get("TEST_MOST")
MOST = float(BAR or 1.6)
TIMES = 15


class Far(GridCase):
    """The link between the gateways is long."""
    SHAPE, HOSTS, SLOTS = "z2", 2, 1
    LONG = (("g1", "middle", AWAY),)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for place in cls.LONG:
            cls.grid.delay(*place)

    def test_one_message_after_another(self):
        r = self.mpiexec(os.path.join(HELPERS, "far"), self.HOSTS * self.SLOTS, TIMES)
        self.quiet(r)
        if BAR:
            print("microseconds, median and least:", r.out, sep="\n")
        least = {name: float(best) for name, best in re.findall(r"^(\w+) \S+ (\S+)$", r.out, re.M)}
        for name in ("barrier", "bcast", "allreduce"):
            with self.subTest(call=name):
                self.assertGreater(least[name], AWAY)
                self.assertLess(least[name], MOST * AWAY + least["near_" + name], r.out)


class FarThree(Far):
    """So are the networks of three clusters, each to the host that joins them."""
    SHAPE, HOSTS, SLOTS = "m3", 1, 2
    LONG = tuple(("z", network, AWAY // 2) for network in "abc")


if __name__ == "__main__":
    main()
