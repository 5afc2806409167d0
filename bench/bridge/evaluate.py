#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a program feels of the bridge: the same ranks on two hosts of one cluster, and on one host of each of two clusters with a host
in both (z1) or a pair of gateways (z2) between them.

  sudo bench/bridge/evaluate.py measure RESULTS.json [--only pairs,limited,sizes,ranks,kernels,limited_kernels] [--rounds 3] [--build build/release]
  bench/bridge/evaluate.py draw RESULTS.json FOLDER
  bench/bridge/evaluate.py table RESULTS.json

pairs: bandwidth in one and both directions, latency. limited: the former with links of 1 Gb/s. sizes: collectives of eight ranks. ranks: the same of 2 to 16.
kernels: who talks to whom in EP, MG, CG, IS and LU. Measurements are added to what the file has already.
"""
import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

from bed import Bed  # noqa: E402

PLACES = {"one": "one cluster", "z1": "two clusters, a host in both", "z2": "two clusters, two gateways"}
COLORS = {"one": "#777777", "z1": "#d55e00", "z2": "#0072b2"}
DASHES = ((), (7, 4), (2, 4))
COLLECTIVES = ("bcast", "alltoall", "alltoallv", "reduce", "allreduce")
KERNELS = ("ep", "mg", "cg", "is", "lu")
NUMBERS = (2, 4, 8, 16)
SIZES_OF_RANKS = (8, 4096, 262144)
RATE = "1gbit"
QUICK = ("slice=0.003", "sweeps=3")


class Places:
    """Runs a program with so many ranks, half of them on each of two hosts."""

    def __init__(self, build):
        self.beds = {"z1": Bed("z1", build), "z2": Bed("z2", build)}

    def __enter__(self):
        for bed in self.beds.values():
            bed.__enter__()
        return self

    def __exit__(self, *_):
        for bed in self.beds.values():
            bed.__exit__()

    def limit(self, rate):
        for bed in self.beds.values():
            bed.unlimit()
            if rate:
                bed.limit(rate)

    def run(self, place, ranks, program, *options):
        if place == "one":
            bed, each = self.beds["z1"], ranks // 2
            return bed._mpi("a1", ["--host", f"a1:{each},a2:{each}", "-n", ranks, bed._program(program), *options], None)
        bed = self.beds[place]
        file = os.path.join(bed.grid.folder, f"half{ranks}.toml")
        bed.grid.inner, bed.grid.slots, inner = 1, ranks // 2, bed.grid.inner
        with open(file, "w", encoding="utf-8") as out:
            out.write(bed.grid.description())
        bed.grid.inner = inner
        return bed.across(program, *options, ranks=ranks, file=file)


def pairs(run):
    sizes = "sizes=8,64,512,4096,32768,131072,262144,1048576,4194304"
    yield 2, run(2, "bench_latency", sizes, *QUICK)
    yield 2, run(2, "bench_bandwidth", sizes, "slice=0.02", "sweeps=3", "limit=4", "hurry=0.1")
    yield 2, run(2, "bench_bandwidth", sizes, "ways=2", "name=both_ways", "slice=0.02", "sweeps=3", "limit=4", "hurry=0.1")


def limited(run):
    """Where links, and not the cores that all processes share, are what is scarce."""
    options = ("sizes=8192,32768,131072,524288", "slice=0.1", "sweeps=3", "limit=4", "hurry=0.5")
    yield 2, run(2, "bench_bandwidth", *options, "name=limited")
    yield 2, run(2, "bench_bandwidth", *options, "ways=2", "name=limited_both_ways")


def names(*collectives):
    return "only=" + ",".join("coll_" + name for name in collectives)


def sizes(run):
    yield 8, run(8, "bench_collectives", names(*COLLECTIVES), "sizes=8,64,512,4096,32768,131072,262144,1048576", *QUICK, "limit=6", "hurry=0.05")


def ranks(run):
    for n in NUMBERS:
        yield n, run(n, "bench_collectives", names("barrier", *COLLECTIVES), "sizes=" + ",".join(map(str, SIZES_OF_RANKS)), *QUICK,
                     "limit=4", "hurry=0.05")


def kernels(run):
    for n in NUMBERS:
        yield n, run(n, "bench_bridge_kernels", "times=3")


GROUPS = {"pairs": pairs, "limited": limited, "sizes": sizes, "ranks": ranks, "kernels": kernels, "limited_kernels": kernels}


def measure(args):
    found = load(args.results) if os.path.exists(args.results) else []
    with Places(os.path.abspath(args.build)) as places:
        for _ in range(args.rounds):
            for group in args.only.split(","):
                places.limit(RATE if group.startswith("limited") else None)
                for place in PLACES:
                    def run(n, program, *options, at=place):
                        return places.run(at, n, program, *options)
                    for n, figures in GROUPS[group](run):
                        found += [{"group": group, "place": place, "ranks": n, "what": name, "size": size, "value": value}
                                  for (name, size), value in figures.items()]
                    with open(args.results, "w", encoding="utf-8") as out:
                        json.dump(found, out)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def points(found, key, **wanted):
    """By size or ranks: median, lower and upper quartile of all rounds."""
    by = {}
    for figure in found:
        if all(figure[name] == value for name, value in wanted.items()):
            by.setdefault(figure[key], []).append(figure["value"])
    return {at: spread(values) for at, values in sorted(by.items())}


def spread(values):
    if len(values) < 2:
        return (values[0],) * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def size_name(size):
    return f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def draw(args):
    from harness.plots import chart
    found = load(args.results)

    def picture(name, lines, title, unit, along):
        series = [chart.Series((COLORS[place], 2.4 if place == "z1" else 1.8, dashes), text, at) for place, dashes, text, at in lines if at]
        if series:
            chart.draw(series, title, unit, os.path.join(args.folder, name), along, ((chart.svg, ".svg"),))

    ways = (("bandwidth", DASHES[0], ""), ("both_ways", DASHES[1], ", both ways"))
    picture("bandwidth", [(p, d, t + text, points(found, "size", place=p, what=w)) for p, t in PLACES.items() for w, d, text in ways],
            "Bandwidth between two ranks", "MB/s, more is better", "bytes of a message")
    ways = (("limited", DASHES[0], ""), ("limited_both_ways", DASHES[1], ", both ways"))
    picture("limited", [(p, d, t + text, points(found, "size", place=p, what=w)) for p, t in PLACES.items() for w, d, text in ways],
            "Bandwidth between two ranks, all links limited to 1 Gb/s", "MB/s, more is better", "bytes of a message")
    picture("latency", [(p, (), t, points(found, "size", place=p, what="latency")) for p, t in PLACES.items()],
            "Half round trip between two ranks", "microseconds, less is better", "bytes of a message")
    picture("barrier", [(p, (), t, points(found, "ranks", place=p, what="coll_barrier")) for p, t in PLACES.items()],
            "Barrier", "microseconds, less is better", "ranks")
    for name in COLLECTIVES:
        picture(name, [(p, (), t, points(found, "size", place=p, what="coll_" + name, group="sizes")) for p, t in PLACES.items()],
                f"MPI_{name.capitalize()} of eight ranks", "microseconds, less is better", "bytes")
        picture(name + "_ranks", [(p, d, f"{t}, {size_name(s)}", points(found, "ranks", place=p, what="coll_" + name, size=s, group="ranks"))
                                  for p, t in PLACES.items() for s, d in zip(SIZES_OF_RANKS, DASHES)],
                f"MPI_{name.capitalize()}", "microseconds, less is better", "ranks")
    limits = (("kernels", DASHES[0], ""), ("limited_kernels", DASHES[1], ", links of 1 Gb/s"))
    for name in KERNELS:
        picture("kernel_" + name, [(p, d, t + text, points(found, "ranks", place=p, what="kernel_" + name, group=g))
                                   for p, t in PLACES.items() for g, d, text in limits],
                f"The pattern of {name.upper()}", "milliseconds, less is better", "ranks")


def table(args):
    """Medians, and those of the bridge in parts of one cluster's."""
    found = load(args.results)
    rows = sorted({(f["group"], f["what"], f["ranks"], f["size"]) for f in found})
    print("| | ranks | bytes | one cluster | z1 | z2 | z1 / one | z2 / one |\n|---|---|---|---|---|---|---|---|")
    for group, what, n, size in rows:
        value = [points(found, "size", place=p, what=what, group=group, ranks=n).get(size, (float("nan"),))[0] for p in PLACES]
        print(f"| {what} | {n} | {size} | " + " | ".join(f"{v:.4g}" for v in value) +
              f" | {value[1] / value[0]:.2f} | {value[2] / value[0]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    m = commands.add_parser("measure")
    m.add_argument("results")
    m.add_argument("--only", default=",".join(GROUPS))
    m.add_argument("--rounds", type=int, default=3)
    m.add_argument("--build", default=os.path.join(HERE, "../../build/release"))
    m.set_defaults(do=measure)
    d = commands.add_parser("draw")
    d.add_argument("results")
    d.add_argument("folder")
    d.set_defaults(do=draw)
    t = commands.add_parser("table")
    t.add_argument("results")
    t.set_defaults(do=table)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
