# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Keys in the memory of gateways and ranks of a running job."""
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "bridge"))

from harness import MultiClusterCase, main  # noqa: E402
from key_schedule import derive, found_in_memory, secret_of  # noqa: E402

RELAY_AGENT = os.path.join(HERE, "relay_agent.py")
IDLE_RANKS = os.environ["TEST_IDLE_RANKS"]


class GatewayKeys(MultiClusterCase):
    SHAPE = "z2u"

    def test_gateways_have_no_key_of_ranks(self):
        record = os.path.join(self.clusters.folder, "bootstrap")
        agent = f"{sys.executable} -B {RELAY_AGENT} --record {record} {self.clusters.agent}"
        with open(self.clusters.file) as f:
            text = f.read().replace(f'agent = "{self.clusters.agent}"', f'agent = "{agent}"')
        with open(self.clusters.file, "w") as f:
            f.write(text)
        p = self.begin("-n", 4, IDLE_RANKS)
        try:
            self.assertEqual(p.stdout.readline(), "connected\n")
            with open(record, "rb") as f:
                data = f.read()
            size = int.from_bytes(data[:4], "little")
            secret = secret_of(data[:4 + size])
            keys = {"secret": secret, **{label: derive(secret, label) for label in ("control", "peer", "hop", "end to end")}}
            gateways = [pid for host in ("g1", "g2") for pid in self.named(host, "zipmpi-gateway")]
            self.assertEqual(len(gateways), 2)
            for pid in gateways:
                self.assertEqual(found_in_memory(pid, keys), {"hop"})
            ranks = [pid for host in ("a1", "b1") for pid in self.named(host, "idle_ranks")]
            self.assertEqual(len(ranks), 2)
            for pid in ranks:
                self.assertEqual(found_in_memory(pid, keys), {"peer", "hop", "end to end"})
        finally:
            for pid in self.named("front", "mpiexec"):
                os.kill(pid, signal.SIGTERM)
            p.communicate(timeout=20)


if __name__ == "__main__":
    main()
