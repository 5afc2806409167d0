# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages through gateways: every one comes once, in order and whole, also when gateways are killed."""
import os
import signal
import time

from harness import HELPERS, GridCase, main, wait_until

NUMBERED = os.path.join(HELPERS, "numbered")
MPI = os.environ.get("TEST_MPI_FOLDER", "")


class MessageCase(GridCase):
    def numbered(self, *args, ranks=4):
        r = self.mpiexec("-n", ranks, NUMBERED, *args)
        self.quiet(r)
        self.assertIn("messages ", r.out)


class Zipped(MessageCase):
    def test_all_lengths(self):
        self.numbered(500, 3000000)
        self.nothing_left()

    def test_collectives(self):
        r = self.mpiexec("-n", 4, os.path.join(MPI, "collectives"))
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)


class Linked(Zipped):
    SHAPE = "z2"


class ZippedOverlapping(MessageCase):
    SHAPE = "z1o"

    def test_all_lengths(self):
        self.numbered(300)


class Killed(MessageCase):
    SHAPE = "z1x2"

    def test_killed_gateways_lose_nothing(self):
        p = self.begin("-n", 4, NUMBERED, 100, 300000, 6)
        for host in ("z", "y", "z"):
            time.sleep(1)
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 5))
            os.kill(self.named(host, "zipmpi-gateway")[0], signal.SIGKILL)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("messages ", out)
        self.assertEqual(err.count("killed by SIGKILL"), 3, err)


if __name__ == "__main__":
    main()
