# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages through gateways: each arrives once, in order and complete, also when gateways are killed."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import limits
import failover
from harness import HELPERS, MultiClusterCase, main, wait_until

SEQUENCED = os.path.join(HELPERS, "sequenced")
MPI = os.environ.get("TEST_MPI_FOLDER", "")
HAS_LIBFABRIC = os.environ.get("TEST_LIBFABRIC") == "1"


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

    def begin_sequenced(self, *options):
        """The running program, and a function that lets it end."""
        folder = tempfile.mkdtemp(dir=self.clusters.folder)
        end = os.path.join(folder, "end")
        p = self.begin(*options, "-n", 4, SEQUENCED, 100, 300000, 0, end)
        return p, lambda: open(end, "w").close()

    def forwarding_gateway(self, host):
        """Waits until messages go through the gateway of a host: ranks are connected to it. Returns its pid."""
        return self.gateway(host, 100_000)


class MultihomedGateway(MessageCase):
    def test_all_lengths(self):
        self.sequenced(500, 3000000)
        self.nothing_left()

    def test_collectives(self):
        r = self.mpiexec("-n", 4, os.path.join(MPI, "collectives"))
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)

    @unittest.skipUnless(HAS_LIBFABRIC, "this build has no libfabric")
    def test_libfabric(self):
        """Ranks and gateways of a cluster use the same engine."""
        engine = ("-genv", "ZIPMPI_NET_ENGINE", "ofi")
        r = self.mpiexec("-n", 4, *engine, SEQUENCED, 200, 300000)
        self.quiet(r)
        self.assertIn("messages ", r.out)
        r = self.mpiexec("-n", 4, *engine, "-genv", "ZIPMPI_NET_OFI_PROVIDER", "none_such", SEQUENCED, 200, 300000)
        self.assertNotEqual(r.code, 0)
        self.assertIn("libfabric has no provider none_such", r.err)


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
        p, end = self.begin_sequenced()
        for host in ("z", "y", "z"):
            killed = self.forwarding_gateway(host)
            os.kill(killed, signal.SIGKILL)
            self.assertTrue(wait_until(lambda: killed not in self.named(host, "zipmpi-gateway"), 30))
            self.forwarding_gateway(host)
        end()
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
    RANKS = 4

    def test_messages_of_all_lengths(self):
        self.sequenced(200, 1000000, ranks=self.RANKS)
        self.nothing_left()

    def test_all_pairs(self):
        r = self.mpiexec("-n", self.RANKS, os.path.join(MPI, "collectives"))
        self.quiet(r)
        self.assertIn("collectives: ok", r.out)

    def test_ranks_are_on_all_hosts(self):
        r = self.mpiexec("-n", self.RANKS, "hostname")
        self.quiet(r)
        gateways = [h.name for h in self.clusters.hosts if h.name in r.out.split()]
        self.assertEqual(len(gateways), len(self.clusters.sides) + self.gateway_hosts(), r.out)

    def gateway_hosts(self):
        return len(self.clusters.edges) * (2 if self.clusters.joined else 1)


class RanksOnLinkedGateways(RanksOnGatewayHosts):
    """Over the link to the other cluster."""
    SHAPE = "z2"
    MULTIHOMED_SLOTS = 1


class RanksOnEncryptedGateways(RanksOnLinkedGateways):
    SHAPE = "z2u"


class RanksOnLinkedGatewaysOverlapping(RanksOnLinkedGateways):
    SHAPE = "z2o"


class RanksOnSeveralGateways(RanksOnGatewayHosts):
    SHAPE = "z1x2"
    MULTIHOMED_SLOTS = 1


class RanksOnGatewaysOfAChain(RanksOnGatewayHosts):
    SHAPE = "c3"
    SLOTS = 2
    MULTIHOMED_SLOTS = 1
    RANKS = 8


class RanksOnGatewaysOfAStar(RanksOnGatewayHosts):
    SHAPE = "s4"
    MULTIHOMED_SLOTS = 2
    RANKS = 10


class RanksOnGatewayOfThree(RanksOnGatewayHosts):
    SHAPE = "m3"
    MULTIHOMED_SLOTS = 1


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
        self.gateway("z", 20_000)  # it has published its address, and reads again and again what ranks will publish
        return p, lambda: open(flag, "w").close()

    def kill(self):
        os.kill(self.named("z", "zipmpi-gateway")[0], signal.SIGKILL)

    def ended(self, p):
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("messages ", out)

    def test_after_it_published_its_address(self):
        p, go = self.job()
        self.kill()
        go()
        self.ended(p)

    def test_while_ranks_probe(self):
        for seconds in (0.0, 0.02, 0.04, 0.08):
            p, go = self.job()
            go()
            time.sleep(seconds)  # the moment of the failure
            self.kill()
            self.ended(p)


SILENCE_MS = 400
MOST_MS = 2 * (SILENCE_MS + 500)  # twice performance target B14: the machine may be busy


class HungGateway(MessageCase):
    """A gateway that hangs for a while, and then continues."""
    SHAPE = "z1x2"

    OPTIONS = ("--env", f"ZIPMPI_GATEWAY_HEARTBEAT_TIMEOUT_MS={SILENCE_MS}")

    def test_stopped_gateways_delay_messages_briefly(self):
        p, end = self.begin_sequenced(*self.OPTIONS)
        for host in ("z", "y"):
            failover.stop(self.clusters, host, self.forwarding_gateway(host), 1.5 * SILENCE_MS / 1000)
            self.forwarding_gateway(host)
        end()
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(float(out.split("gaps")[1].split()[0]), MOST_MS)

    def test_reset_connections(self):
        p, end = self.begin_sequenced(*self.OPTIONS)
        for host in ("z", "y", "z", "y"):
            failover.reset(self.clusters, host, self.forwarding_gateway(host), rounds=1)
            self.forwarding_gateway(host)
        end()
        out, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertLess(float(out.split("gaps")[1].split()[0]), MOST_MS)


if __name__ == "__main__":
    main()
