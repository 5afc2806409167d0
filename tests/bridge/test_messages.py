# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages through gateways: every one comes once, in order and whole, also when gateways are killed."""
import os
import re
import signal
import subprocess
import time

import bars
import failover
from harness import HELPERS, GridCase, main, wait_until

NUMBERED = os.path.join(HELPERS, "numbered")
MPI = os.environ.get("TEST_MPI_FOLDER", "")


# On a gateway's host: packets until its input ends, and those that have a line of the program.
EAR = """
import select, socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
s.bind((sys.argv[1], 0))
print("ready", flush=True)
packets = heard = 0
while True:
    ready = select.select([s, sys.stdin], [], [])[0]
    if s not in ready:
        break
    packet = s.recv(1 << 17)
    packets += 1
    heard += b"only for the last rank." in packet
print(packets, heard)
"""


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


class MoreGatewaysThanHosts(MessageCase):
    """Gateways see each other in several networks; which one is meant only a rank can tell them."""
    SHAPE = "z1x3"
    HOSTS = 1

    def test_messages(self):
        self.numbered(200, 1000000, ranks=2)


class Linked(Zipped):
    SHAPE = "z2"
    HEARD = True

    def test_who_listens_between_the_gateways(self):
        port = "eth1"
        ear = self.grid.start("g1", ["python3", "-c", EAR, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(ear.stdout.close)
        self.assertEqual(ear.stdout.readline(), "ready\n")
        r = self.mpiexec("-n", 4, os.path.join(HELPERS, "whisper"))
        self.quiet(r)
        self.assertEqual(r.out, "whispered\n")
        packets, heard = map(int, ear.communicate(timeout=20)[0].split())
        self.assertGreater(packets, 20)
        self.assertEqual(heard > 0, self.HEARD)


class Sealed(Linked):
    SHAPE = "z2u"
    HEARD = False


class Killed(MessageCase):
    SHAPE = "z1x2"

    def test_killed_gateways_lose_nothing(self):
        p = self.begin("-n", 4, NUMBERED, 100, 300000, 3)
        for host in ("z", "y", "z"):
            time.sleep(0.6)  # 0.2 s until it is started again, and some to be found
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30))
            os.kill(self.named(host, "zipmpi-gateway")[0], signal.SIGKILL)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("messages ", out)
        self.assertEqual(err.count("killed by SIGKILL"), 3, err)


class Flooded(GridCase):
    def test_a_gateway_keeps_little_and_others_pass(self):
        grown, kept, _ = bars.flood(self.grid, self.begin, os.path.join(HELPERS, "flood"), 1000)
        self.assertLessEqual(grown, bars.POOL)
        self.assertGreaterEqual(kept, 0.4)  # half of what bar B12 wants: others may be busy here


class BesideGateways(MessageCase):
    """Ranks on the host of a gateway reach both clusters without it."""
    HOSTS = 1
    ZIPPER_SLOTS = 2

    def test_messages_of_all_lengths(self):
        self.numbered(200, 1000000)

    def test_everybody_with_everybody(self):
        r = self.mpiexec("-n", 4, os.path.join(MPI, "collectives"))
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)


class Separated(GridCase):
    """Ranks that separate the others sit on the host of the gateway: then it has nothing to do."""
    SIDE = int(os.environ.get("TEST_HALO", "4"))  # 16: bar B17
    RANKS = SIDE * SIDE
    HOSTS = 1
    SLOTS = (RANKS - SIDE) // 2
    ZIPPER_SLOTS = SIDE

    def passed_on(self, *args):
        r = self.mpiexec("-n", self.RANKS, *args, env={"ZIPMPI_BRIDGE_REPORT": "yes"})
        self.assertEqual((r.code, r.out), (0, "halo: ok\n"), r)
        return int(re.search(r"passed on .* frames .* with (\d+) bytes", r.err)[1])

    def test_a_halo(self):
        matrix = os.path.join(self.grid.folder, "halo.matrix")
        halo = (os.path.join(HELPERS, "halo"), self.SIDE, self.SIDE)
        r = self.mpiexec("-n", self.RANKS, *halo, 5, 1000, env={"ZIPMPI_MATRIX_FILE": matrix})
        self.quiet(r)
        placed = ("--map-by", f"comm:{matrix}", *halo)
        without = self.passed_on(*placed, 0, 0)
        self.assertEqual(self.passed_on(*placed, 20, 20000) - without, 0)
        self.assertGreater(self.passed_on("--map-by", "node", *halo, 20, 20000) - without, 0)


class KilledEarly(MessageCase):
    """A gateway that is killed before ranks look for devices together with it, or while they do."""

    def job(self):
        flag = os.path.join(self.grid.folder, "go")
        if os.path.exists(flag):
            os.remove(flag)
        wait = f"while [ ! -e {flag} ]; do sleep 0.01; done; exec {NUMBERED} 50 300000 0.3"
        p = self.begin("-n", 4, "sh", "-c", wait)
        self.assertTrue(wait_until(lambda: self.named("z", "zipmpi-gateway"), 10))
        return p, lambda: open(flag, "w").close()

    def kill(self):
        os.kill(self.named("z", "zipmpi-gateway")[0], signal.SIGKILL)

    def ended(self, p):
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("messages ", out)

    def test_after_it_said_where_it_is(self):
        p, go = self.job()
        time.sleep(0.3)
        self.kill()
        go()
        self.ended(p)

    def test_while_ranks_search(self):
        for seconds in (0.0, 0.02, 0.04, 0.08):
            p, go = self.job()
            time.sleep(0.3)
            go()
            time.sleep(seconds)
            self.kill()
            self.ended(p)


SILENCE_MS = 400
MOST_MS = 2 * (SILENCE_MS + 500)  # twice what bar B14 allows: others may be busy here


class Hung(MessageCase):
    """A gateway that does not answer for a while, and then goes on."""
    SHAPE = "z1x2"

    def numbered_for(self, seconds):
        return self.begin("--env", f"ZIPMPI_BRIDGE_SILENCE_MS={SILENCE_MS}", "-n", 4, NUMBERED, 100, 300000, seconds)

    def test_stopped_gateways_hold_up_nobody_for_long(self):
        p = self.numbered_for(3.5)
        for host in ("z", "y"):
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30))
            time.sleep(0.7)
            failover.stop(self.grid, host, self.named(host, "zipmpi-gateway")[0], 1.5 * SILENCE_MS / 1000)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(float(out.split("gaps")[1].split()[0]), MOST_MS)

    def test_connections_that_are_reset(self):
        p = self.numbered_for(3)
        for host in ("z", "y", "z", "y"):
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30))
            time.sleep(0.5)
            failover.reset(self.grid, host, self.named(host, "zipmpi-gateway")[0], rounds=1)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(float(out.split("gaps")[1].split()[0]), MOST_MS)


if __name__ == "__main__":
    main()
