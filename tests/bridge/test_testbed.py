# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The test bed: the clusters have no common network, and no host forwards packets."""
from harness import MultiClusterCase, main


class SeparateNetworks(MultiClusterCase):
    def reaches(self, host, address):
        code = ("import socket,sys; s=socket.socket(); s.settimeout(0.3)\n"
                "try: s.connect((sys.argv[1], 9))\n"
                "except ConnectionRefusedError: print('reached')\n"
                "except OSError as e: print(e)")
        p = self.clusters.run(host, ["python3", "-c", code, address], capture_output=True, text=True)
        return p.stdout.strip() == "reached"

    def gateways(self):
        return [h for h in self.clusters.hosts[1:] if len(h.places) > 1]

    def test_a_cannot_reach_b(self):
        for side, other in ("ab", "ba"):
            for gateway in self.gateways():  # even with added routes
                for _, address in gateway.places:
                    for name in self.clusters.names(side):
                        self.clusters.run(name, ["ip", "route", "add", "10.77.0.0/16", "via", address], capture_output=True)
            self.assertTrue(self.reaches(f"{side}1", self.clusters[f"{side}2"].address))
            if self.clusters.range["a"] == self.clusters.range["b"]:
                continue  # this address belongs to another host here
            for to in self.clusters.names(other):
                self.assertFalse(self.reaches(f"{side}1", self.clusters[to].address))

    def test_no_host_forwards_packets(self):
        for host in self.clusters.hosts[1:]:
            p = self.clusters.run(host.name, ["cat", "/proc/sys/net/ipv4/ip_forward"], capture_output=True, text=True)
            self.assertEqual(p.stdout, "0\n", host.name)

    def test_front_cannot_start_on_inner_hosts(self):
        for name in [name for side in self.clusters.sides for name in self.clusters.names(side)]:
            p = self.clusters.run("front", [*self.clusters.agent.split(), name, "hostname"], capture_output=True, text=True)
            self.assertNotEqual(p.returncode, 0, p.stdout)
        for gateway in self.gateways():
            p = self.clusters.run("front", [*self.clusters.agent.split(), gateway.name, "hostname"], capture_output=True, text=True)
            self.assertEqual(p.stdout.strip(), gateway.name, p.stderr)


class SeparateNetworksLinked(SeparateNetworks):
    SHAPE = "z2"


class SeparateNetworksOverlapping(SeparateNetworks):
    SHAPE = "z1o"

    def test_multihomed_host_separates_its_networks(self):
        (multihomed,) = self.gateways()
        for side in "ab":
            own = dict(multihomed.places)[side]
            for name in self.clusters.names(side):
                self.assertTrue(self.reaches(name, own), (name, own))


if __name__ == "__main__":
    main()
