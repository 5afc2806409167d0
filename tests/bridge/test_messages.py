# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages through gateways: each arrives once, in order and complete, also when gateways are killed."""
import os
import re
import signal
import subprocess
import time

import limits
import failover
from harness import HELPERS, MultiClusterCase, main, wait_until

SEQUENCED = os.path.join(HELPERS, "sequenced")
MPI = os.environ.get("TEST_MPI_FOLDER", "")


# On a gateway's host: counts packets until stdin is closed, and those that contain the text of the program.
SNIFFER = """
import select, socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
s.bind((sys.argv[1], 0))
print("ready", flush=True)
packets = captured = 0
while True:
    ready = select.select([s, sys.stdin], [], [])[0]
    if s not in ready:
        break
    packet = s.recv(1 << 17)
    packets += 1
    captured += b"only for the last rank." in packet
print(packets, captured)
"""


class MessageCase(MultiClusterCase):
    def sequenced(self, *args, ranks=4):
        r = self.mpiexec("-n", ranks, SEQUENCED, *args)
        self.quiet(r)
        self.assertIn("messages ", r.out)


class MultihomedGateway(MessageCase):
    def test_all_lengths(self):
        self.sequenced(500, 3000000)
        self.nothing_left()

    def test_collectives(self):
        r = self.mpiexec("-n", 4, os.path.join(MPI, "collectives"))
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)


class MoreGatewaysThanHosts(MessageCase):
    """Gateways reach each other in several networks; only a rank can tell them which one is meant."""
    SHAPE = "z1x3"
    HOSTS = 1

    def test_messages(self):
        self.sequenced(200, 1000000, ranks=2)


class LinkedGateways(MultihomedGateway):
    SHAPE = "z2"
    CAPTURED = True

    def test_sniffer_between_gateways(self):
        port = "eth1"
        sniffer = self.clusters.start("g1", ["python3", "-c", SNIFFER, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(sniffer.stdout.close)
        self.assertEqual(sniffer.stdout.readline(), "ready\n")
        r = self.mpiexec("-n", 4, os.path.join(HELPERS, "plaintext_leak"))
        self.quiet(r)
        self.assertEqual(r.out, "whispered\n")
        packets, captured = map(int, sniffer.communicate(timeout=20)[0].split())
        self.assertGreater(packets, 20)
        self.assertEqual(captured > 0, self.CAPTURED)


class EncryptedLink(LinkedGateways):
    SHAPE = "z2u"
    CAPTURED = False


class KilledGateway(MessageCase):
    SHAPE = "z1x2"

    def test_killed_gateways_lose_nothing(self):
        p = self.begin("-n", 4, SEQUENCED, 100, 300000, 3)
        for host in ("z", "y", "z"):
            time.sleep(0.6)  # 0.2 s until the restart, the rest to reconnect
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30))
            os.kill(self.named(host, "zipmpi-gateway")[0], signal.SIGKILL)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("messages ", out)
        self.assertEqual(err.count("killed by SIGKILL"), 3, err)


class FlowControl(MultiClusterCase):
    def test_bounded_gateway_memory_and_unaffected_flow(self):
        grown, kept, _ = limits.flood(self.clusters, self.begin, os.path.join(HELPERS, "flood"), 1000)
        self.assertLessEqual(grown, limits.POOL)
        self.assertGreaterEqual(kept, 0.4)  # half of performance target B12: the machine may be busy


class RanksOnGatewayHosts(MessageCase):
    """Ranks on a gateway's host reach both clusters without it."""
    HOSTS = 1
    MULTIHOMED_SLOTS = 2

    def test_messages_of_all_lengths(self):
        self.sequenced(200, 1000000)

    def test_all_pairs(self):
        r = self.mpiexec("-n", 4, os.path.join(MPI, "collectives"))
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)


class PlacedHalo(MultiClusterCase):
    """Ranks that separate the others are on the gateway's host: the gateway forwards nothing."""
    SIDE = int(os.environ.get("TEST_HALO", "4"))  # 16: performance target B17
    RANKS = SIDE * SIDE
    HOSTS = 1
    SLOTS = (RANKS - SIDE) // 2
    MULTIHOMED_SLOTS = SIDE

    def forwarded(self, *args):
        r = self.mpiexec("-n", self.RANKS, *args, env={"ZIPMPI_GATEWAY_REPORT": "yes"})
        self.assertEqual((r.code, r.out), (0, "halo: ok\n"), r)
        return int(re.search(r"forwarded .* frames .* with (\d+) bytes", r.err)[1])

    def test_a_halo(self):
        matrix = os.path.join(self.clusters.folder, "halo.matrix")
        halo = (os.path.join(HELPERS, "halo"), self.SIDE, self.SIDE)
        r = self.mpiexec("-n", self.RANKS, *halo, 5, 1000, env={"ZIPMPI_MATRIX_FILE": matrix})
        self.quiet(r)
        placed = ("--map-by", f"comm:{matrix}", *halo)
        without = self.forwarded(*placed, 0, 0)
        self.assertEqual(self.forwarded(*placed, 20, 20000) - without, 0)
        self.assertGreater(self.forwarded("--map-by", "node", *halo, 20, 20000) - without, 0)


class KilledGatewayEarly(MessageCase):
    """A gateway is killed before or while ranks probe for devices together with it."""

    def job(self):
        flag = os.path.join(self.clusters.folder, "go")
        if os.path.exists(flag):
            os.remove(flag)
        wait = f"while [ ! -e {flag} ]; do sleep 0.01; done; exec {SEQUENCED} 50 300000 0.3"
        p = self.begin("-n", 4, "sh", "-c", wait)
        self.assertTrue(wait_until(lambda: self.named("z", "zipmpi-gateway"), 10))
        return p, lambda: open(flag, "w").close()

    def kill(self):
        os.kill(self.named("z", "zipmpi-gateway")[0], signal.SIGKILL)

    def ended(self, p):
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("messages ", out)

    def test_after_it_published_its_address(self):
        p, go = self.job()
        time.sleep(0.3)
        self.kill()
        go()
        self.ended(p)

    def test_while_ranks_probe(self):
        for seconds in (0.0, 0.02, 0.04, 0.08):
            p, go = self.job()
            time.sleep(0.3)
            go()
            time.sleep(seconds)
            self.kill()
            self.ended(p)


SILENCE_MS = 400
MOST_MS = 2 * (SILENCE_MS + 500)  # twice performance target B14: the machine may be busy


class HungGateway(MessageCase):
    """A gateway that hangs for a while, and then continues."""
    SHAPE = "z1x2"

    def sequenced_for(self, seconds):
        return self.begin("--env", f"ZIPMPI_GATEWAY_HEARTBEAT_TIMEOUT_MS={SILENCE_MS}", "-n", 4, SEQUENCED, 100, 300000, seconds)

    def test_stopped_gateways_delay_messages_briefly(self):
        p = self.sequenced_for(3.5)
        for host in ("z", "y"):
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30))
            time.sleep(0.7)
            failover.stop(self.clusters, host, self.named(host, "zipmpi-gateway")[0], 1.5 * SILENCE_MS / 1000)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(float(out.split("gaps")[1].split()[0]), MOST_MS)

    def test_reset_connections(self):
        p = self.sequenced_for(3)
        for host in ("z", "y", "z", "y"):
            self.assertTrue(wait_until(lambda: self.named(host, "zipmpi-gateway"), 30))
            time.sleep(0.5)
            failover.reset(self.clusters, host, self.named(host, "zipmpi-gateway")[0], rounds=1)
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(float(out.split("gaps")[1].split()[0]), MOST_MS)


if __name__ == "__main__":
    main()
