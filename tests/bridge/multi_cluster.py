#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Clusters without a common network, made of namespaces, with the cluster file for mpiexec --clusters.

  z1   a1, a2 | z | b1, b2                     z is in both networks
  z2   a1, a2 | g1 = g2 | b1, b2               a third network connects the gateways
  c3   a1, a2 | z | b1, b2 | y | c1, c2        a chain
  s4   a1, a2 in the middle, z to b, y to c, x to d: a star
  m3   a, b and c with one host z in all three; also m2, m4

A host `front` reaches the gateways only. Networks have separate address ranges; with the suffix o (z1o, z2o) all are
10.77.0.0/24. With the suffix u (z2u) the link between gateways is untrusted. A final xN sets the number of gateways on each
side: z1x2 has z and y.

  multi_cluster.py SHAPE COMMAND...         runs a command on `front`; $CLUSTER_FILE is the file for --clusters
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "multinode"))

from cluster import SKIP, TOOL, CannotRun, Cluster  # noqa: E402

MIDDLE = "192.0.2."
DELAY_BOX = os.path.join(os.path.dirname(TOOL), "..", "bridge", "delay_box")
MULTIHOMED = ("z", "y", "x", "w")


class MultiCluster(Cluster):
    """with MultiCluster("z1") as g: g.run("front", ["mpiexec", "--clusters", g.file, ...])"""

    def __init__(self, shape, slots=1, hosts=2, multihomed_slots=0):
        kind, overlap, untrusted, count = re.fullmatch(r"(z1|z2|c3|s4|m[234])(o?)(u?)(?:x(\d))?", shape).groups()
        self.trust = ", untrusted = true" if untrusted else ""
        self.joined, self.slots, self.inner = kind == "z2", slots, hosts
        self.multihomed_slots = multihomed_slots
        self.edges = {"z1": ["ab"], "z2": ["ab"], "c3": ["ab", "bc"], "s4": ["ab", "ac", "ad"],
                      "m2": ["ab"], "m3": ["abc"], "m4": ["abcd"]}[kind] * int(count or 1)
        self.sides = sorted(set("".join(self.edges)))
        self.range = {side: "10.77.0." if overlap else f"10.77.{i + 1}." for i, side in enumerate(self.sides)}
        plan = {"front": [("middle", MIDDLE + "100")]}
        for side in self.sides:
            plan.update({name: [(side, self.range[side] + str(i + 1))] for i, name in enumerate(self.names(side))})
        for i, edge in enumerate(self.edges):
            plan.update(self._gateway_hosts(i, edge))
        super().__init__(plan)
        self.boxes = []

    def _gateway_hosts(self, i, edge):
        places = [(side, self.range[side] + str(200 + i + 10 * n)) for n, side in enumerate(edge)]
        if not self.joined:
            return {MULTIHOMED[i]: [*places, ("middle", MIDDLE + str(1 + i))]}
        a, b = places
        return {f"g{2 * i + 1}": [a, ("middle", MIDDLE + str(1 + 2 * i))],
                f"g{2 * i + 2}": [b, ("middle", MIDDLE + str(2 + 2 * i))]}

    def __enter__(self):
        super().__enter__()
        with open(self.file, "w") as f:
            f.write(self.description())
        return self

    def delay(self, host, network, microseconds):
        """Adds a delay between a host and a network."""
        at = self[host]
        i, address = next((i, a) for i, (n, a) in enumerate(at.places) if n == network)
        switch, device, port = self["switch"], f"eth{i}", at.ports[network]
        self._ip(at, "link", "del", device)
        box = subprocess.Popen([DELAY_BOX, str(at.pid), device, str(switch.pid), port, str(microseconds)], stdout=subprocess.PIPE, text=True)
        self.boxes.append(box)
        if box.stdout.readline() != "ready\n":
            raise CannotRun("no TAP devices here")
        self._ip(switch, "link", "set", port, "master", self.bridges[network], "up")
        self._ip(at, "addr", "add", address + "/24", "dev", device)
        self._ip(at, "link", "set", device, "up")
        if len(at.places) > 1:
            self._ip(at, "route", "add", address.rsplit(".", 1)[0] + ".0/24", "dev", device, "src", address, "table", str(100 + i))

    def __exit__(self, *why):
        super().__exit__(*why)
        for box in self.boxes:
            box.kill()
            box.wait()
            box.stdout.close()
        self.boxes = []

    @property
    def file(self):
        return os.path.join(self.folder, "clusters.toml")

    def names(self, side):
        return [f"{side}{i}" for i in range(1, self.inner + 1)]

    def description(self):
        """Contents of the cluster file."""
        text = ""
        for side in self.sides:
            hosts = ", ".join(f'"{n}:{self.slots}"' for n in self.names(side))
            text += f'[[cluster]]\nname = "{side}"\nhosts = [{hosts}]\nagent = "{self.agent}"\n\n'
        for i, edge in enumerate(self.edges):
            if not self.joined:
                clusters = ", ".join(f'"{side}"' for side in edge)
                text += f'[[gateway]]\nhost = "{MULTIHOMED[i]}"\nclusters = [{clusters}]\nslots = {self.multihomed_slots}\n'
                text += f'agent = "{self.agent}"\n\n'
                continue
            one, two = f"g{2 * i + 1}", f"g{2 * i + 2}"
            slots = f"slots = {self.multihomed_slots}\n"
            text += f'[[gateway]]\nhost = "{one}"\ncluster = "a"\nagent = "{self.agent}"\n{slots}'
            text += f'link = {{ to = "{two}", listen = "{MIDDLE}{1 + 2 * i}:0"{self.trust} }}\n\n'
            text += f'[[gateway]]\nhost = "{two}"\ncluster = "b"\nagent = "{self.agent}"\n{slots}\n'
        return text

    def environment(self, extra=None):
        return super().environment({"CLUSTER_FILE": self.file, **(extra or {})})


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        with MultiCluster(sys.argv[1]) as clusters:
            sys.exit(clusters.run("front", sys.argv[2:], stdin=None).returncode)
    except CannotRun as why:
        print(f"no clusters here: {why}", file=sys.stderr)
        sys.exit(SKIP)


if __name__ == "__main__":
    main()
