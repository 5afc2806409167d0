#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The bridge as seen by an application: equal ranks on two hosts of one cluster, and on one host of each of two clusters,
connected by a multihomed host (z1) or a pair of gateways (z2).

  sudo bench/bridge/evaluate.py measure RESULTS.json [--only pairs,limited,sizes,ranks,kernels,limited_kernels] [--rounds 3] [--build build/release]
  bench/bridge/evaluate.py draw RESULTS.json FOLDER
  bench/bridge/evaluate.py table RESULTS.json

pairs: bandwidth in one and both directions, latency. limited: bandwidth with links of 1 Gb/s. sizes: collectives of eight ranks.
ranks: collectives of 2 to 16 ranks. kernels: communication patterns of EP, MG, CG, IS and LU. Measurements are added to the file.
"""
import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

from testbed import Testbed  # noqa: E402

SETUPS = {"one": "one cluster", "z1": "two clusters, multihomed host", "z2": "two clusters, two gateways"}
COLORS = {"one": "#777777", "z1": "#d55e00", "z2": "#0072b2"}
DASHES = ((), (7, 4), (2, 4))
COLLECTIVES = ("bcast", "alltoall", "alltoallv", "reduce", "allreduce")
KERNELS = ("ep", "mg", "cg", "is", "lu")
NUMBERS = (2, 4, 8, 16)
SIZES_OF_RANKS = (8, 4096, 262144)
RATE = "1gbit"
QUICK = ("slice=0.003", "sweeps=3")


class Setups:
    """Runs a program with the given ranks, half of them on each of two hosts."""

    def __init__(self, build):
        self.testbeds = {"z1": Testbed("z1", build), "z2": Testbed("z2", build)}

    def __enter__(self):
        for testbed in self.testbeds.values():
            testbed.__enter__()
        return self

    def __exit__(self, *_):
        for testbed in self.testbeds.values():
            testbed.__exit__()

    def limit(self, rate):
        for testbed in self.testbeds.values():
            testbed.unlimit()
            if rate:
                testbed.limit(rate)

    def run(self, setup, ranks, program, *options):
        if setup == "one":
            testbed, each = self.testbeds["z1"], ranks // 2
            return testbed._mpi("a1", ["--host", f"a1:{each},a2:{each}", "-n", ranks, testbed._program(program), *options], None)
        testbed = self.testbeds[setup]
        file = os.path.join(testbed.clusters.folder, f"half{ranks}.toml")
        testbed.clusters.inner, testbed.clusters.slots, inner = 1, ranks // 2, testbed.clusters.inner
        with open(file, "w", encoding="utf-8") as out:
            out.write(testbed.clusters.description())
        testbed.clusters.inner = inner
        return testbed.across(program, *options, ranks=ranks, file=file)


def pairs(run):
    sizes = "sizes=8,64,512,4096,32768,131072,262144,1048576,4194304"
    yield 2, run(2, "bench_latency", sizes, *QUICK)
    yield 2, run(2, "bench_bandwidth", sizes, "slice=0.02", "sweeps=3", "limit=4", "hurry=0.1")
    yield 2, run(2, "bench_bandwidth", sizes, "ways=2", "name=both_ways", "slice=0.02", "sweeps=3", "limit=4", "hurry=0.1")


def limited(run):
    """With links as the bottleneck instead of the cores that all processes share."""
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
    with Setups(os.path.abspath(args.build)) as setups:
        for _ in range(args.rounds):
            for group in args.only.split(","):
                setups.limit(RATE if group.startswith("limited") else None)
                for setup in SETUPS:
                    def run(n, program, *options, at=setup):
                        return setups.run(at, n, program, *options)
                    for n, figures in GROUPS[group](run):
                        found += [{"group": group, "setup": setup, "ranks": n, "what": name, "size": size, "value": value}
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
        series = [chart.Series((COLORS[setup], 2.4 if setup == "z1" else 1.8, dashes), text, at) for setup, dashes, text, at in lines if at]
        if series:
            chart.draw(series, title, unit, os.path.join(args.folder, name), along, ((chart.svg, ".svg"),))

    ways = (("bandwidth", DASHES[0], ""), ("both_ways", DASHES[1], ", both ways"))
    picture("bandwidth", [(p, d, t + text, points(found, "size", setup=p, what=w)) for p, t in SETUPS.items() for w, d, text in ways],
            "Bandwidth between two ranks", "MB/s, more is better", "bytes of a message")
    ways = (("limited", DASHES[0], ""), ("limited_both_ways", DASHES[1], ", both ways"))
    picture("rate_limited", [(p, d, t + text, points(found, "size", setup=p, what=w)) for p, t in SETUPS.items() for w, d, text in ways],
            "Bandwidth between two ranks, all links limited to 1 Gb/s", "MB/s, more is better", "bytes of a message")
    picture("latency", [(p, (), t, points(found, "size", setup=p, what="latency")) for p, t in SETUPS.items()],
            "Half round trip between two ranks", "microseconds, less is better", "bytes of a message")
    picture("barrier", [(p, (), t, points(found, "ranks", setup=p, what="coll_barrier")) for p, t in SETUPS.items()],
            "Barrier", "microseconds, less is better", "ranks")
    for name in COLLECTIVES:
        picture(name, [(p, (), t, points(found, "size", setup=p, what="coll_" + name, group="sizes")) for p, t in SETUPS.items()],
                f"MPI_{name.capitalize()} of eight ranks", "microseconds, less is better", "bytes")
        picture(name + "_ranks", [(p, d, f"{t}, {size_name(s)}", points(found, "ranks", setup=p, what="coll_" + name, size=s, group="ranks"))
                                  for p, t in SETUPS.items() for s, d in zip(SIZES_OF_RANKS, DASHES)],
                f"MPI_{name.capitalize()}", "microseconds, less is better", "ranks")
    limits = (("kernels", DASHES[0], ""), ("limited_kernels", DASHES[1], ", links of 1 Gb/s"))
    for name in KERNELS:
        picture("kernel_" + name, [(p, d, t + text, points(found, "ranks", setup=p, what="kernel_" + name, group=g))
                                   for p, t in SETUPS.items() for g, d, text in limits],
                f"The pattern of {name.upper()}", "milliseconds, less is better", "ranks")


def table(args):
    """Medians, and those of the bridge relative to one cluster."""
    found = load(args.results)
    rows = sorted({(f["group"], f["what"], f["ranks"], f["size"]) for f in found})
    print("| | ranks | bytes | one cluster | z1 | z2 | z1 / one | z2 / one |\n|---|---|---|---|---|---|---|---|")
    for group, what, n, size in rows:
        value = [points(found, "size", setup=p, what=what, group=group, ranks=n).get(size, (float("nan"),))[0] for p in SETUPS]
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
