#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over two clusters against connections over equal hops without ZipMPI, alternating; as root.

  bench/bridge/compare.py [--only latency,bandwidth] [--rounds 5] [--build build/release] [--out FILE.json]

  R0 plain TCP over one link; Rk the kernel forwards packets; Rr a minimal relay in user space (copy, or splice).
A figure is the median over the rounds. A verdict needs a reference with a spread of at most 15 %.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

from testbed import BENCH, Testbed

SPREAD = 0.15
MIB = 1 << 20


def spread(values):
    if len(values) < 3:
        return float("inf")
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / statistics.median(values)


class Figures:
    """Results, by name of the run and of the figure."""

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

    def add_target(self, target, what, wanted, found, references, at_most=True, figures=None):
        """references: keys in figures whose spread decides whether the result is conclusive."""
        unsteady = [k for k in references if figures.spread(*k) > SPREAD]
        met = found <= wanted if at_most else found >= wanted
        verdict = "met" if met else "missed"
        if unsteady:
            worst = max(unsteady, key=lambda k: figures.spread(*k))
            verdict = f"inconclusive ({' '.join(map(str, worst))} spread {figures.spread(*worst):.0%}; else {verdict})"
        self.rows.append((target, what, f"{'at most' if at_most else 'at least'} {wanted:g}", f"{found:.3g}", verdict))
        print("| " + " | ".join(self.rows[-1]) + " |", flush=True)

    def note(self, text):
        print("  " + text, flush=True)


def latency(options, report):
    """B1: half round trip through one gateway and through two."""
    sizes = (8, 64, 1024)
    wanted = "sizes=" + ",".join(map(str, sizes))
    f = Figures()
    with Testbed("z1", options.build) as z1, Testbed("z2", options.build) as z2:
        runs = {}
        for name, testbed in (("z1", z1), ("z2", z2)):
            runs |= {name + " Rr": lambda b=testbed: b.relayed("copy", "ping", wanted, "seconds=0.15"),
                     name + " Rk": lambda b=testbed: b.routed("ping", wanted, "seconds=0.1"),
                     name + " zipmpi": lambda b=testbed: b.across("bench_latency", wanted, "slice=0.02", env=options.env)}
        runs["R0"] = lambda: z1.plain_tcp("ping", wanted, "seconds=0.1")
        runs["inside"] = lambda: z1.within("bench_latency", wanted, "slice=0.02")
        f.in_turns(options.rounds, runs)
    for s in sizes:
        key, zipmpi = ("tcp_latency", s), ("latency", s)
        report.note(f"{s} B, us: R0 {f.median('R0', *key):.1f}; inside a cluster {f.median('inside', *zipmpi):.1f}; one relay: Rk "
                    f"{f.median('z1 Rk', *key):.1f} Rr {f.median('z1 Rr', *key):.1f} zipmpi {f.median('z1 zipmpi', *zipmpi):.1f}; two: Rk "
                    f"{f.median('z2 Rk', *key):.1f} Rr {f.median('z2 Rr', *key):.1f} zipmpi {f.median('z2 zipmpi', *zipmpi):.1f}")
        report.add_target("B1", f"half round trip of {s} B, one gateway / Rr", 1.2, f.median("z1 zipmpi", *zipmpi) / f.median("z1 Rr", *key),
                   [("z1 Rr", *key), ("z1 zipmpi", *zipmpi)], figures=f)
        report.add_target("B1", f"latency added by a second gateway, {s} B / added by a second relay to Rr", 1.15,
                   (f.median("z2 zipmpi", *zipmpi) - f.median("z1 zipmpi", *zipmpi)) / (f.median("z2 Rr", *key) - f.median("z1 Rr", *key)),
                   [("z2 Rr", *key), ("z2 zipmpi", *zipmpi)], figures=f)
    return f


def first(options, report):
    """B2: the first message of a pair of ranks."""
    f = Figures()
    with Testbed("z1", options.build, slots=4) as z1:
        report_on = {"ZIPMPI_GATEWAY_REPORT": "yes", **options.env}
        f.in_turns(options.rounds, {
            "zipmpi": lambda: z1.across("bench_bridge_first_message", ranks=8, env=options.env),
            "none": lambda: z1.across("bench_bridge_first_message", ranks=8, env=report_on),
        })
    steady, once = ("zipmpi", "next_message", 8), ("zipmpi", "first_message", 8)
    report.note(f"first {f.median(*once):.1f} us, once more from a barrier {f.median('zipmpi', 'again_message', 8):.1f} us, later "
                f"{f.median(*steady):.1f} us; one run: {f.median('none', 'messages', 0):.0f} "
                f"messages in {f.median('none', 'frames', 0):.0f} frames, {f.median('none', 'control', 0):.0f} of them acks and grants")
    report.add_target("B2", "first message of a pair / a later one", 1.5, f.median(*once) / f.median(*steady), [steady, once], figures=f)
    data = f.median("none", "frames", 0) - f.median("none", "control", 0)
    report.add_target("B2", "frames with data / messages", 1.0, data / f.median("none", "messages", 0), [], figures=f)
    return f


def bandwidth(options, report):
    """B3, B5, B7: paths with a rate limit."""
    f = Figures()
    wanted, size = f"sizes={4 * MIB}", 4 * MIB
    brief = ("slice=0.5", "sweeps=1", "least=1", "most=2")
    with Testbed("z1", options.build) as z1, Testbed("z2", options.build) as z2:
        for testbed in (z1, z2):
            testbed.limit(options.rate, networks=("a", "b", "middle") if testbed is z2 else ("a", "b"))
        f.in_turns(options.rounds, {
            "R0": lambda: z1.plain_tcp("stream", wanted, "seconds=0.6"),
            "z1": lambda: z1.across("bench_bandwidth", wanted, *brief, env=options.env),
            "z2": lambda: z2.across("bench_bandwidth", wanted, *brief, env=options.env),
            "both": lambda: z1.across("bench_bandwidth", wanted, *brief, "ways=2", env=options.env),
            "direct": lambda: z1.within("bench_bridge_long_message", "megabytes=8", "times=5"),
            "whole z1": lambda: z1.across("bench_bridge_long_message", "megabytes=8", "times=5", env=options.env),
            "whole z2": lambda: z2.across("bench_bridge_long_message", "megabytes=8", "times=5", env=options.env),
        })
    plain_tcp = ("R0", "tcp_bandwidth", size)
    for z in ("z1", "z2"):
        zipmpi = (z, "bandwidth", size)
        report.note(f"{z}: {f.median(*zipmpi):.1f} MB/s, R0 {f.median(*plain_tcp):.1f}")
        report.add_target("B3", f"4 MiB messages, {z}, paths of {options.rate} / R0", 0.95, f.median(*zipmpi) / f.median(*plain_tcp), [plain_tcp, zipmpi],
                   at_most=False, figures=f)
    one, both = ("z1", "bandwidth", size), ("both", "both_ways", size)
    report.add_target("B5", "both directions at once / one", 1.9, f.median(*both) / f.median(*one), [one, both], at_most=False, figures=f)
    direct = ("direct", "whole", 8 * MIB)
    for z, most in (("z1", 1.10), ("z2", 1.15)):
        zipmpi = ("whole " + z, "whole", 8 * MIB)
        report.note(f"8 MiB: {f.median(*zipmpi) / 1000:.1f} ms through {z}, {f.median(*direct) / 1000:.1f} ms inside a cluster")
        report.add_target("B7", f"time of 8 MiB, {z} / inside a cluster", most, f.median(*zipmpi) / f.median(*direct), [direct, zipmpi], figures=f)
    return f


def unlimited(options, report):
    """B4, B8: overhead of the bridge."""
    f = Figures()
    wanted, size = f"sizes={4 * MIB}", 4 * MIB
    with Testbed("z1", options.build) as z1:
        f.in_turns(options.rounds, {
            "copy": lambda: z1.relayed("copy", "stream", wanted),
            "zipmpi": lambda: z1.across("bench_bandwidth", wanted, "slice=0.2", "sweeps=2", env=options.env),
            "splice": lambda: z1.relayed("splice", "stream", wanted),
            "Rk": lambda: z1.routed("stream", wanted),
            "rate": lambda: z1.across("bench_bandwidth", "sizes=64", "slice=0.1", "sweeps=3", env=options.env),
            "rate inside": lambda: z1.within("bench_bandwidth", "sizes=64", "slice=0.1", "sweeps=3"),
        })
    best = max((("copy", "tcp_bandwidth", size), ("splice", "tcp_bandwidth", size)), key=lambda k: f.median(*k))
    zipmpi = ("zipmpi", "bandwidth", size)
    report.note(f"MB/s: zipmpi {f.median(*zipmpi):.0f}; Rr copy {f.median('copy', 'tcp_bandwidth', size):.0f}, splice "
                f"{f.median('splice', 'tcp_bandwidth', size):.0f}; Rk {f.median('Rk', 'tcp_bandwidth', size):.0f}")
    report.add_target("B4", f"4 MiB messages without a limit / Rr ({best[0]})", 0.9, f.median(*zipmpi) / f.median(*best), [best, zipmpi],
               at_most=False, figures=f)
    rate, inside = ("rate", "bandwidth", 64), ("rate inside", "bandwidth", 64)
    report.note(f"64 B, M/s: {f.median(*rate) / 64:.3f} through a gateway, {f.median(*inside) / 64:.3f} inside a cluster")
    report.add_target("B8", "64 B message rate / inside a cluster", 0.5, f.median(*rate) / f.median(*inside), [inside, rate], at_most=False,
               figures=f)
    return f


def striped(options, report):
    """B6: one message of 64 MiB over several paths."""
    f = Figures()
    size = 64 * MIB
    for paths in (1, 2, 4):  # alternating runs would keep seven more hosts on two cores; the rate limit makes each steady
        with Testbed(f"z1x{paths}", options.build) as testbed:
            testbed.limit("250mbit", hosts=("z", "y", "x", "w"), networks=("a", "b"))
            f.in_turns(min(options.rounds, 3), {paths: lambda b=testbed: b.across("bench_bridge_long_message", "megabytes=64", "times=1", env=options.env)})
    one = (1, "whole", size)
    for paths, wanted in ((2, 1.9), (4, 3.6)):
        more = (paths, "whole", size)
        report.note(f"64 MiB: {f.median(*one) / 1e6:.2f} s over one path, {f.median(*more) / 1e6:.2f} s over {paths}")
        report.add_target("B6", f"64 MiB over {paths} paths of 250 Mb/s / one", wanted, f.median(*one) / f.median(*more), [one, more],
                   at_most=False, figures=f)
    return f


def cipher_speed():
    p = subprocess.run(["openssl", "speed", "-elapsed", "-seconds", "1", "-bytes", "65536", "-evp", "aes-256-gcm"],
                       capture_output=True, text=True, timeout=60)
    return float(re.search(r"([\d.]+)k\s*$", p.stdout, re.M)[1]) * 1000 / 1e6


def sealed(options, report):
    """B9: an untrusted link."""
    f = Figures()
    wanted, size = f"sizes={4 * MIB}", 4 * MIB
    brief = ("slice=0.5", "sweeps=1", "least=1", "most=2")
    with Testbed("z2", options.build) as plain, Testbed("z2u", options.build) as secret:
        testbeds = {"plain": plain, "sealed": secret}
        f.in_turns(options.rounds, {
            **{n + " unlimited": lambda b=b: b.across("bench_bandwidth", wanted, "slice=0.2", "sweeps=2", env=options.env) for n, b in testbeds.items()},
            **{n + " short": lambda b=b: b.across("bench_latency", "sizes=8,1024", "slice=0.02", env=options.env) for n, b in testbeds.items()},
            "openssl": lambda: {("speed", 65536): cipher_speed()}})
        for testbed in testbeds.values():
            testbed.limit(options.rate, networks=("middle",))
        f.in_turns(options.rounds, {n: lambda b=b: b.across("bench_bandwidth", wanted, *brief, env=options.env) for n, b in testbeds.items()})
    plain, secret = ("plain", "bandwidth", size), ("sealed", "bandwidth", size)
    report.add_target("B9", f"encrypted / plain, middle link of {options.rate}", 0.9, f.median(*secret) / f.median(*plain), [plain, secret],
               at_most=False, figures=f)
    speed, free = ("openssl", "speed", 65536), ("sealed unlimited", "bandwidth", size)
    report.note(f"MB/s without a limit: plain {f.median('plain unlimited', 'bandwidth', size):.0f}, encrypted {f.median(*free):.0f}, "
                f"openssl speed {f.median(*speed):.0f}")
    report.add_target("B9", "encrypted without a limit / openssl speed", 0.6, f.median(*free) / f.median(*speed), [speed, free], at_most=False, figures=f)
    for s in (8, 1024):
        a, b = ("plain short", "latency", s), ("sealed short", "latency", s)
        report.note(f"{s} B: plain {f.median(*a):.1f} us, encrypted {f.median(*b):.1f} us")
        report.add_target("B9", f"latency added by encryption, {s} B, us", 3, f.median(*b) - f.median(*a), [a, b], figures=f)
    return f


def start(options, report):
    """B19: startup of a job over two clusters against one of equal size."""
    f = Figures()
    with Testbed("z1", options.build, hosts=4) as one, Testbed("z1", options.build) as z1, Testbed("z2", options.build) as z2:
        hosts = ["--host", "a1:1,a2:1,a3:1,a4:1", "-n", 4]
        f.in_turns(max(options.rounds, 7), {
            "one": lambda: {("start", 4): one.start(hosts, "a1")},
            "z1": lambda: {("start", 4): z1.start(["--clusters", z1.clusters.file, "-n", 4], "front")},
            "z2": lambda: {("start", 4): z2.start(["--clusters", z2.clusters.file, "-n", 4], "front")},
        })
    one = ("one", "start", 4)
    for z in ("z1", "z2"):
        report.note(f"{z}: {f.median(z, 'start', 4) * 1000:.0f} ms, one cluster {f.median(*one) * 1000:.0f} ms")
        report.add_target("B19", f"startup of four ranks over {z} / one cluster", 1.5, f.median(z, "start", 4) / f.median(*one), [one, (z, "start", 4)],
                   figures=f)
    return f


PARTS = {"latency": latency, "first": first, "bandwidth": bandwidth, "unlimited": unlimited, "striped": striped, "sealed": sealed,
         "start": start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", default="500mbit", help="rate limit of paths")
    parser.add_argument("--build", default=os.path.join(BENCH, "../build/release"))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of ZipMPI, e.g. ZIPMPI_GATEWAY_SPIN_US=50")
    parser.add_argument("--out", help="file for every value of every round")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.env = dict(word.split("=", 1) for word in options.set)
    report, values = Report(), {}
    print("| target | what | wanted | found | verdict |\n|---|---|---|---|---|")
    for part in options.only.split(","):
        f = PARTS[part](options, report)
        values[part] = {" ".join(map(str, k)): v for k, v in f.values.items()}
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"values": values, "targets": report.rows}, file, indent=1)
    sys.exit(any(row[-1] != "met" for row in report.rows))


if __name__ == "__main__":
    main()
