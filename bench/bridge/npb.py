#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of NPB over gateways, against one cluster with as many hosts and the same ranks on each.

  sudo bench/bridge/npb.py measure RESULTS.json --npb FOLDER [--kernels lu.W,mg.A,cg.A] [--ranks 4,8] [--rounds 3] [--rate 1gbit] [--build build/release]
  bench/bridge/npb.py table RESULTS.json

FOLDER, not below /tmp, has lu.W.x and so on, as `make` of NPB 3.4-MPI leaves them in bin/; matrices are added there. Shapes: z1 a multihomed host, z2 a pair of gateways, c3 a
chain of three clusters. Placements: order; separator (--map-by comm: of the kernel's matrix; z1 and c3 then have ranks on the
gateways' hosts); random (by a matrix of random pairs). Each run over gateways follows one in a single cluster, with the same hosts,
slots and placement. Measurements are added to the file.
"""
import argparse
import json
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

from testbed import Failed, Testbed  # noqa: E402

SHAPES = {"z1": "one gateway", "z2": "two gateways", "c3": "chain of three"}
PLACEMENTS = ("order", "separator", "random")
INNER = {"z1": ("a1", "b1"), "z2": ("a1", "b1"), "c3": ("a1", "b1", "c1")}
MULTIHOMED = {"z1": ("z",), "z2": (), "c3": ("z", "y")}
SECONDS = 300


def slots_of(shape, placement, ranks):
    """Ranks of each host. In a chain the cluster in the middle has half of them; with a separator each gateway host has an eighth,
    in z1 a quarter."""
    inner = INNER[shape]
    shares = {host: ranks // 2 if host == "b1" or len(inner) == 2 else ranks // 4 for host in inner}
    gateways = MULTIHOMED[shape] if placement == "separator" else ()
    each = max(ranks // 8, 1) if shape == "c3" else max(ranks // 4, 2)
    for gateway in gateways:
        shares[gateway] = each
        if shape == "c3":
            shares["b1"] -= each
        else:
            shares = {host: n - each // 2 if host in inner else n for host, n in shares.items()}
    return shares


class Shapes:
    def __init__(self, build, npb, rate):
        self.build, self.npb, self.rate = build, npb, rate
        self.beds = {shape: Testbed(shape, build, hosts=5 if shape == "z1" else 1) for shape in SHAPES}
        self.matrices = {}

    def __enter__(self):
        for bed in self.beds.values():
            bed.__enter__()
            if self.rate:
                bed.limit(self.rate)
        return self

    def __exit__(self, *_):
        for bed in self.beds.values():
            bed.__exit__()

    def _run(self, bed, host, words, env=None):
        mpiexec = os.path.join(self.build, "bin/mpiexec")
        command = [mpiexec, "--launch-agent", bed.clusters.agent, "--bind-to", "none", *map(str, words)]
        p = bed.clusters.run(host, command, env=env, capture_output=True, text=True, timeout=SECONDS)
        if p.returncode != 0:
            raise Failed(f"{' '.join(command)}: status {p.returncode}\n{p.stdout[-2000:]}{p.stderr}")
        return p.stdout

    def _seconds(self, text, kernel):
        if not re.search(r"Verification\s+=\s+SUCCESSFUL", text):
            raise Failed(f"{kernel} is wrong:\n{text}")
        return float(re.search(r"Time in seconds =\s*([\d.]+)", text)[1])

    def _program(self, kernel):
        return os.path.join(self.npb, kernel + ".x")

    def _placement(self, placement, kernel, ranks):
        if placement == "order":
            return []
        key = (placement, kernel, ranks)
        if key not in self.matrices:
            bed = self.beds["z1"]
            path = os.path.join(self.npb, f"{placement}.{kernel}.{ranks}.matrix")  # visible on all hosts
            if placement == "random":
                pattern = f"random:{ranks}:3:1"
                bed.clusters.run("a1", [os.path.join(self.build, "bin/zipmpi"), "map", "--pattern", pattern, "--write", path],
                                 capture_output=True, check=True)
            else:
                self._run(bed, "a1", ["-n", ranks, self._program(kernel)], {"ZIPMPI_MATRIX_FILE": path})
            self.matrices[key] = path
        return ["--map-by", "comm:" + self.matrices[key]]

    def one(self, shape, placement, kernel, ranks):
        slots = slots_of(shape, placement, ranks)
        hosts = ",".join(f"a{i + 1}:{n}" for i, n in enumerate(slots.values()))
        words = [*self._placement(placement, kernel, ranks), "--host", hosts, "-n", ranks, self._program(kernel)]
        return self._seconds(self._run(self.beds["z1"], "a1", words), kernel)

    def across(self, shape, placement, kernel, ranks):
        clusters, slots = self.beds[shape].clusters, slots_of(shape, placement, ranks)
        inner, clusters.inner = clusters.inner, 1
        text = clusters.description()
        clusters.inner = inner
        for host in INNER[shape]:
            text = re.sub(rf'"{host}:\d+"', f'"{host}:{slots[host]}"', text)
        for host in MULTIHOMED[shape]:
            text = re.sub(rf'(host = "{host}"\nclusters = .*\nslots = )\d+', rf"\g<1>{slots.get(host, 0)}", text)
        file = os.path.join(clusters.folder, f"{placement}{ranks}.toml")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        words = [*self._placement(placement, kernel, ranks), "--clusters", file, "-n", ranks, self._program(kernel)]
        return self._seconds(self._run(self.beds[shape], "front", words), kernel)


def measure(args):
    found = load(args.results) if os.path.exists(args.results) else []
    with Shapes(os.path.abspath(args.build), os.path.abspath(args.npb), args.rate) as shapes:
        for _ in range(args.rounds):
            for kernel in args.kernels.split(","):
                for ranks in map(int, args.ranks.split(",")):
                    for shape in args.shapes.split(","):
                        for placement in PLACEMENTS:
                            if min(slots_of(shape, placement, ranks).values()) < 1:
                                continue  # too few ranks for every host
                            point = {"kernel": kernel, "ranks": ranks, "shape": shape, "placement": placement, "rate": args.rate or "none"}
                            found.append({**point, "one": shapes.one(shape, placement, kernel, ranks),
                                          "across": shapes.across(shape, placement, kernel, ranks)})
                            with open(args.results, "w", encoding="utf-8") as out:
                                json.dump(found, out)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table(args):
    """Medians of one cluster, and medians of the ratios of pairs."""
    found = load(args.results)
    print("| limit | kernel | ranks | shape | one cluster, s | order | separator | random |\n|---|---|---|---|---|---|---|---|")
    for rate, kernel, ranks, shape in sorted({(f["rate"], f["kernel"], f["ranks"], f["shape"]) for f in found}, key=str):
        pairs = {p: [f for f in found if (f["rate"], f["kernel"], f["ranks"], f["shape"], f["placement"]) == (rate, kernel, ranks, shape, p)]
                 for p in PLACEMENTS}
        cells = [f"{statistics.median(f['across'] / f['one'] for f in pairs[p]):.2f}" if pairs[p] else "" for p in PLACEMENTS]
        one = statistics.median(f["one"] for f in pairs["order"]) if pairs["order"] else float("nan")
        print(f"| {rate} | {kernel} | {ranks} | {SHAPES[shape]} | {one:.2f} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    m = commands.add_parser("measure")
    m.add_argument("results")
    m.add_argument("--npb", required=True)
    m.add_argument("--kernels", default="lu.W,mg.A,cg.A")
    m.add_argument("--ranks", default="4,8")
    m.add_argument("--shapes", default=",".join(SHAPES))
    m.add_argument("--rounds", type=int, default=3)
    m.add_argument("--rate", default="")
    m.add_argument("--build", default=os.path.join(HERE, "../../build/release"))
    m.set_defaults(do=measure)
    t = commands.add_parser("table")
    t.add_argument("results")
    t.set_defaults(do=table)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
