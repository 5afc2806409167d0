#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Startup of a job over two clusters against one of equal size in one cluster, alternating.

  ci/bridge_start.py [ROUNDS [BUILD]]     default 7, build/release; root

The performance target: at most 1.5 times as long. Inconclusive if the spread of the reference exceeds 15 %.
"""
import os
import statistics
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
BUILD = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "build/release"))
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/multinode/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/bridge"))

from multi_cluster import MultiCluster  # noqa: E402
from cluster import Cluster  # noqa: E402

MPIEXEC = os.path.join(BUILD, "bin/mpiexec")
PROGRAM = os.path.join(BUILD, "tests/mpi/error_codes")
TARGET = 1.5
SPREAD = 0.15


def seconds(cluster, host, words):
    begin = time.monotonic()
    p = cluster.run(host, [MPIEXEC, *words, PROGRAM], capture_output=True, text=True, timeout=60)
    if p.returncode != 0 or p.stderr:
        sys.exit(f"the job failed with status {p.returncode}: {p.stderr}")
    return time.monotonic() - begin


def spread(values):
    """Spread of the middle half, so that one late run does not count."""
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle


def main():
    one, two = [], []
    with Cluster(4) as cluster, MultiCluster("z1") as z1:
        hosts = ",".join(f"n{i}:1" for i in range(1, 5))
        for i in range(ROUNDS + 1):
            a = seconds(cluster, "n1", ["-n", "4", "--launch-agent", cluster.agent, "--host", hosts])
            b = seconds(z1, "front", ["-n", "4", "--clusters", z1.file])
            if i > 0:  # the first round is a warm-up
                one.append(a)
                two.append(b)
    ratio = statistics.median(two) / statistics.median(one)
    print(f"one cluster  {statistics.median(one) * 1000:6.1f} ms, spread {spread(one):.0%}")
    print(f"two clusters {statistics.median(two) * 1000:6.1f} ms, spread {spread(two):.0%}")
    print(f"ratio        {ratio:6.2f}, target {TARGET}")
    if spread(one) > SPREAD:
        print("inconclusive: the spread of the reference is too large")
        return 2
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
