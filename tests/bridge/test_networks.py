# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The test bed itself: the clusters share no network, and nobody passes packets on."""
from harness import GridCase, main


class Apart(GridCase):
    def reaches(self, host, address):
        code = ("import socket,sys; s=socket.socket(); s.settimeout(0.3)\n"
                "try: s.connect((sys.argv[1], 9))\n"
                "except ConnectionRefusedError: print('reached')\n"
                "except OSError as e: print(e)")
        p = self.grid.run(host, ["python3", "-c", code, address], capture_output=True, text=True)
        return p.stdout.strip() == "reached"

    def gateways(self):
        return [h for h in self.grid.hosts[1:] if len(h.places) > 1]

    def test_a_cannot_reach_b(self):
        for side, other in ("ab", "ba"):
            for gateway in self.gateways():  # even if the users add routes
                for _, address in gateway.places:
                    for name in self.grid.names(side):
                        self.grid.run(name, ["ip", "route", "add", "10.77.0.0/16", "via", address], capture_output=True)
            self.assertTrue(self.reaches(f"{side}1", self.grid[f"{side}2"].address))
            if self.grid.range["a"] == self.grid.range["b"]:
                continue  # the same address is another host here
            for to in self.grid.names(other):
                self.assertFalse(self.reaches(f"{side}1", self.grid[to].address))

    def test_nobody_passes_packets_on(self):
        for host in self.grid.hosts[1:]:
            p = self.grid.run(host.name, ["cat", "/proc/sys/net/ipv4/ip_forward"], capture_output=True, text=True)
            self.assertEqual(p.stdout, "0\n", host.name)

    def test_the_front_starts_nothing_on_inner_hosts(self):
        for name in [name for side in self.grid.sides for name in self.grid.names(side)]:
            p = self.grid.run("front", [*self.grid.agent.split(), name, "hostname"], capture_output=True, text=True)
            self.assertNotEqual(p.returncode, 0, p.stdout)
        for gateway in self.gateways():
            p = self.grid.run("front", [*self.grid.agent.split(), gateway.name, "hostname"], capture_output=True, text=True)
            self.assertEqual(p.stdout.strip(), gateway.name, p.stderr)


class ApartJoined(Apart):
    SHAPE = "z2"


class ApartOverlapping(Apart):
    SHAPE = "z1o"

    def test_a_zipper_tells_its_networks_apart(self):
        (zipper,) = self.gateways()
        for side in "ab":
            own = dict(zipper.places)[side]
            for name in self.grid.names(side):
                self.assertTrue(self.reaches(name, own), (name, own))


if __name__ == "__main__":
    main()
