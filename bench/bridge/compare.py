#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over two clusters against what the same hops carry without us, in turns; as root.

  bench/bridge/compare.py [--only b1,b3] [--rounds 5] [--build build/release] [--out FILE.json]

  R0 plain TCP over one link; Rk the kernel passes packets on; Rr the least relay in user space (copy, or splice).
A figure is the median over the rounds. A verdict needs a reference that is spread by at most 15 %.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

from bed import BENCH, Bed

SPREAD = 0.15
MIB = 1 << 20


def spread(values):
    if len(values) < 3:
        return float("inf")
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / statistics.median(values)


class Figures:
    """What came out, by name of the run and of the figure."""

    def __init__(self):
        self.values = {}

    def in_turns(self, rounds, runs):
        for _ in range(rounds):
            for name, run in runs.items():
                for key, value in run().items():
                    self.values.setdefault((name, *key), []).append(value)

    def median(self, *key):
        return statistics.median(self.values[key])

    def spread(self, *key):
        return spread(self.values[key])


class Report:
    def __init__(self):
        self.rows = []

    def bar(self, bar, what, wanted, found, references, at_most=True, figures=None):
        """references: keys in figures whose spread decides whether anything was measured."""
        unsteady = [k for k in references if figures.spread(*k) > SPREAD]
        held = found <= wanted if at_most else found >= wanted
        verdict = "held" if held else "missed"
        if unsteady:
            worst = max(unsteady, key=lambda k: figures.spread(*k))
            verdict = f"not measured ({' '.join(map(str, worst))} spread {figures.spread(*worst):.0%}; else {verdict})"
        self.rows.append((bar, what, f"{'at most' if at_most else 'at least'} {wanted:g}", f"{found:.3g}", verdict))
        print("| " + " | ".join(self.rows[-1]) + " |", flush=True)

    def note(self, text):
        print("  " + text, flush=True)


def latency(options, report):
    """B1: half round trip through one gateway and through two."""
    sizes = (8, 64, 1024)
    wanted = "sizes=" + ",".join(map(str, sizes))
    f = Figures()
    with Bed("z1", options.build) as z1, Bed("z2", options.build) as z2:
        runs = {}
        for name, bed in (("z1", z1), ("z2", z2)):
            runs |= {name + " Rr": lambda b=bed: b.relayed("copy", "ping", wanted, "seconds=0.15"),
                     name + " Rk": lambda b=bed: b.routed("ping", wanted, "seconds=0.1"),
                     name + " ours": lambda b=bed: b.across("bench_latency", wanted, "slice=0.02", env=options.env)}
        runs["R0"] = lambda: z1.bare("ping", wanted, "seconds=0.1")
        runs["inside"] = lambda: z1.within("bench_latency", wanted, "slice=0.02")
        f.in_turns(options.rounds, runs)
    for s in sizes:
        key, ours = ("tcp_latency", s), ("latency", s)
        report.note(f"{s} B, us: R0 {f.median('R0', *key):.1f}; inside a cluster {f.median('inside', *ours):.1f}; one relay: Rk "
                    f"{f.median('z1 Rk', *key):.1f} Rr {f.median('z1 Rr', *key):.1f} ours {f.median('z1 ours', *ours):.1f}; two: Rk "
                    f"{f.median('z2 Rk', *key):.1f} Rr {f.median('z2 Rr', *key):.1f} ours {f.median('z2 ours', *ours):.1f}")
        report.bar("B1", f"half round trip of {s} B, one gateway / Rr", 1.2, f.median("z1 ours", *ours) / f.median("z1 Rr", *key),
                   [("z1 Rr", *key), ("z1 ours", *ours)], figures=f)
        report.bar("B1", f"what a second gateway adds to it, {s} B / what a second relay adds to Rr", 1.15,
                   (f.median("z2 ours", *ours) - f.median("z1 ours", *ours)) / (f.median("z2 Rr", *key) - f.median("z1 Rr", *key)),
                   [("z2 Rr", *key), ("z2 ours", *ours)], figures=f)
    return f


def first(options, report):
    """B2: the first message of a pair of ranks."""
    f = Figures()
    with Bed("z1", options.build, slots=4) as z1:
        report_on = {"ZIPMPI_BRIDGE_REPORT": "yes", **options.env}
        f.in_turns(options.rounds, {
            "ours": lambda: z1.across("bench_bridge_first", ranks=8, env=options.env),
            "none": lambda: z1.across("bench_bridge_first", ranks=8, env=report_on),
        })
    steady, once = ("ours", "next_message", 8), ("ours", "first_message", 8)
    report.note(f"first {f.median(*once):.1f} us, once more from a barrier {f.median('ours', 'again_message', 8):.1f} us, later "
                f"{f.median(*steady):.1f} us; one run: {f.median('none', 'messages', 0):.0f} "
                f"messages in {f.median('none', 'frames', 0):.0f} frames, {f.median('none', 'control', 0):.0f} of them acks and grants")
    report.bar("B2", "first message of a pair / a later one", 1.5, f.median(*once) / f.median(*steady), [steady, once], figures=f)
    data = f.median("none", "frames", 0) - f.median("none", "control", 0)
    report.bar("B2", "frames with data / messages", 1.0, data / f.median("none", "messages", 0), [], figures=f)
    return f


def bandwidth(options, report):
    """B3, B5, B7: lanes with a rate limit."""
    f = Figures()
    wanted, size = f"sizes={4 * MIB}", 4 * MIB
    brief = ("slice=0.5", "sweeps=1", "least=1", "most=2")
    with Bed("z1", options.build) as z1, Bed("z2", options.build) as z2:
        for bed in (z1, z2):
            bed.limit(options.rate, networks=("a", "b", "middle") if bed is z2 else ("a", "b"))
        f.in_turns(options.rounds, {
            "R0": lambda: z1.bare("stream", wanted, "seconds=0.6"),
            "z1": lambda: z1.across("bench_bandwidth", wanted, *brief, env=options.env),
            "z2": lambda: z2.across("bench_bandwidth", wanted, *brief, env=options.env),
            "both": lambda: z1.across("bench_bandwidth", wanted, *brief, "ways=2", env=options.env),
            "direct": lambda: z1.within("bench_bridge_whole", "megabytes=8", "times=5"),
            "whole z1": lambda: z1.across("bench_bridge_whole", "megabytes=8", "times=5", env=options.env),
            "whole z2": lambda: z2.across("bench_bridge_whole", "megabytes=8", "times=5", env=options.env),
        })
    bare = ("R0", "tcp_bandwidth", size)
    for z in ("z1", "z2"):
        ours = (z, "bandwidth", size)
        report.note(f"{z}: {f.median(*ours):.1f} MB/s, R0 {f.median(*bare):.1f}")
        report.bar("B3", f"4 MiB messages, {z}, lanes of {options.rate} / R0", 0.95, f.median(*ours) / f.median(*bare), [bare, ours],
                   at_most=False, figures=f)
    one, both = ("z1", "bandwidth", size), ("both", "both_ways", size)
    report.bar("B5", "both directions at once / one", 1.9, f.median(*both) / f.median(*one), [one, both], at_most=False, figures=f)
    direct = ("direct", "whole", 8 * MIB)
    for z, most in (("z1", 1.10), ("z2", 1.15)):
        ours = ("whole " + z, "whole", 8 * MIB)
        report.note(f"8 MiB: {f.median(*ours) / 1000:.1f} ms through {z}, {f.median(*direct) / 1000:.1f} ms inside a cluster")
        report.bar("B7", f"time of 8 MiB, {z} / inside a cluster", most, f.median(*ours) / f.median(*direct), [direct, ours], figures=f)
    return f


def unlimited(options, report):
    """B4, B8: what the engine costs."""
    f = Figures()
    wanted, size = f"sizes={4 * MIB}", 4 * MIB
    with Bed("z1", options.build) as z1:
        f.in_turns(options.rounds, {
            "copy": lambda: z1.relayed("copy", "stream", wanted),
            "ours": lambda: z1.across("bench_bandwidth", wanted, "slice=0.2", "sweeps=2", env=options.env),
            "splice": lambda: z1.relayed("splice", "stream", wanted),
            "Rk": lambda: z1.routed("stream", wanted),
            "rate": lambda: z1.across("bench_bandwidth", "sizes=64", "slice=0.1", "sweeps=3", env=options.env),
            "rate inside": lambda: z1.within("bench_bandwidth", "sizes=64", "slice=0.1", "sweeps=3"),
        })
    best = max((("copy", "tcp_bandwidth", size), ("splice", "tcp_bandwidth", size)), key=lambda k: f.median(*k))
    ours = ("ours", "bandwidth", size)
    report.note(f"MB/s: ours {f.median(*ours):.0f}; Rr copy {f.median('copy', 'tcp_bandwidth', size):.0f}, splice "
                f"{f.median('splice', 'tcp_bandwidth', size):.0f}; Rk {f.median('Rk', 'tcp_bandwidth', size):.0f}")
    report.bar("B4", f"4 MiB messages without a limit / Rr ({best[0]})", 0.9, f.median(*ours) / f.median(*best), [best, ours],
               at_most=False, figures=f)
    rate, inside = ("rate", "bandwidth", 64), ("rate inside", "bandwidth", 64)
    report.note(f"64 B, M/s: {f.median(*rate) / 64:.3f} through a gateway, {f.median(*inside) / 64:.3f} inside a cluster")
    report.bar("B8", "64 B message rate / inside a cluster", 0.5, f.median(*rate) / f.median(*inside), [inside, rate], at_most=False,
               figures=f)
    return f


def striped(options, report):
    """B6: one message of 64 MiB over several lanes."""
    f = Figures()
    size = 64 * MIB
    for lanes in (1, 2, 4):  # in turns would keep seven hosts too many on two cores; the limit makes each steady
        with Bed(f"z1x{lanes}", options.build) as bed:
            bed.limit("250mbit", hosts=("z", "y", "x", "w"), networks=("a", "b"))
            f.in_turns(min(options.rounds, 3), {lanes: lambda b=bed: b.across("bench_bridge_whole", "megabytes=64", "times=1", env=options.env)})
    one = (1, "whole", size)
    for lanes, wanted in ((2, 1.9), (4, 3.6)):
        more = (lanes, "whole", size)
        report.note(f"64 MiB: {f.median(*one) / 1e6:.2f} s over one lane, {f.median(*more) / 1e6:.2f} s over {lanes}")
        report.bar("B6", f"64 MiB over {lanes} lanes of 250 Mb/s / one", wanted, f.median(*one) / f.median(*more), [one, more],
                   at_most=False, figures=f)
    return f


def cipher_speed():
    p = subprocess.run(["openssl", "speed", "-elapsed", "-seconds", "1", "-bytes", "65536", "-evp", "aes-256-gcm"],
                       capture_output=True, text=True, timeout=60)
    return float(re.search(r"([\d.]+)k\s*$", p.stdout, re.M)[1]) * 1000 / 1e6


def sealed(options, report):
    """B9: a link that nobody trusts."""
    f = Figures()
    wanted, size = f"sizes={4 * MIB}", 4 * MIB
    brief = ("slice=0.5", "sweeps=1", "least=1", "most=2")
    with Bed("z2", options.build) as plain, Bed("z2u", options.build) as secret:
        beds = {"plain": plain, "sealed": secret}
        f.in_turns(options.rounds, {
            **{n + " unlimited": lambda b=b: b.across("bench_bandwidth", wanted, "slice=0.2", "sweeps=2", env=options.env) for n, b in beds.items()},
            **{n + " short": lambda b=b: b.across("bench_latency", "sizes=8,1024", "slice=0.02", env=options.env) for n, b in beds.items()},
            "openssl": lambda: {("speed", 65536): cipher_speed()}})
        for bed in beds.values():
            bed.limit(options.rate, networks=("middle",))
        f.in_turns(options.rounds, {n: lambda b=b: b.across("bench_bandwidth", wanted, *brief, env=options.env) for n, b in beds.items()})
    plain, secret = ("plain", "bandwidth", size), ("sealed", "bandwidth", size)
    report.bar("B9", f"sealed / plain, middle link of {options.rate}", 0.9, f.median(*secret) / f.median(*plain), [plain, secret],
               at_most=False, figures=f)
    speed, free = ("openssl", "speed", 65536), ("sealed unlimited", "bandwidth", size)
    report.note(f"MB/s without a limit: plain {f.median('plain unlimited', 'bandwidth', size):.0f}, sealed {f.median(*free):.0f}, "
                f"openssl speed {f.median(*speed):.0f}")
    report.bar("B9", "sealed without a limit / openssl speed", 0.6, f.median(*free) / f.median(*speed), [speed, free], at_most=False, figures=f)
    for s in (8, 1024):
        a, b = ("plain short", "latency", s), ("sealed short", "latency", s)
        report.note(f"{s} B: plain {f.median(*a):.1f} us, sealed {f.median(*b):.1f} us")
        report.bar("B9", f"what sealing adds to {s} B, us", 3, f.median(*b) - f.median(*a), [a, b], figures=f)
    return f


def start(options, report):
    """B19: start of a job over two clusters against one of the same size."""
    f = Figures()
    with Bed("z1", options.build, hosts=4) as one, Bed("z1", options.build) as z1, Bed("z2", options.build) as z2:
        hosts = ["--host", "a1:1,a2:1,a3:1,a4:1", "-n", 4]
        f.in_turns(max(options.rounds, 7), {
            "one": lambda: {("start", 4): one.start(hosts, "a1")},
            "z1": lambda: {("start", 4): z1.start(["--grid", z1.grid.file, "-n", 4], "front")},
            "z2": lambda: {("start", 4): z2.start(["--grid", z2.grid.file, "-n", 4], "front")},
        })
    one = ("one", "start", 4)
    for z in ("z1", "z2"):
        report.note(f"{z}: {f.median(z, 'start', 4) * 1000:.0f} ms, one cluster {f.median(*one) * 1000:.0f} ms")
        report.bar("B19", f"start of four ranks over {z} / one cluster", 1.5, f.median(z, "start", 4) / f.median(*one), [one, (z, "start", 4)],
                   figures=f)
    return f


PARTS = {"latency": latency, "first": first, "bandwidth": bandwidth, "unlimited": unlimited, "striped": striped, "sealed": sealed,
         "start": start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", default="500mbit", help="of lanes with a limit")
    parser.add_argument("--build", default=os.path.join(BENCH, "../build/release"))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of ours, e.g. ZIPMPI_BRIDGE_SPIN_US=50")
    parser.add_argument("--out", help="every value of every round")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.env = dict(word.split("=", 1) for word in options.set)
    report, values = Report(), {}
    print("| bar | what | wanted | found | verdict |\n|---|---|---|---|---|")
    for part in options.only.split(","):
        f = PARTS[part](options, report)
        values[part] = {" ".join(map(str, k)): v for k, v in f.values.items()}
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"values": values, "bars": report.rows}, file, indent=1)
    sys.exit(any(row[-1] != "held" for row in report.rows))


if __name__ == "__main__":
    main()
