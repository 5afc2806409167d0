#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of one-sided operations over RDMA devices with each kind of lock, at a waiting and at a computing target, and the
overlap of an epoch with computation. Not a test: everything is emulated, only ratios are meaningful.

    ci/softroce.sh python3 -B tests/rdma/timings.py
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../multinode"))
from cluster import Cluster  # noqa: E402 pylint: disable=wrong-import-position

MPIEXEC = os.environ["TEST_MPIEXEC"]
BENCH = os.path.join(os.environ["TEST_MPI_FOLDER"], "../../bench")
OPERATIONS = ("put_flush", "get_flush", "fetch_and_op", "lock_unlock")
BRIEFLY = ("slice=0.005", "sweeps=3", "limit=0.2")
PIN = 'exec taskset -c $((PMI_RANK % 2)) "$@"'  # one of the two CPUs for each rank


def results(cluster, lock, program, *arguments):
    command = [MPIEXEC, "--launch-agent", cluster.agent, "-n", "2", "--host", "n1:1,n2:1", "--bind-to", "none", "env",
               "ZIPMPI_WAIT_NET_SPINS=10", "ZIPMPI_RMA_ATOMICS=network", f"ZIPMPI_RMA_LOCK_MODE={lock}", "sh", "-c", PIN, "pin",
               os.path.join(BENCH, "bench_" + program), *BRIEFLY, *arguments]
    run = cluster.run("n1", command, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != 0:
        print(f"{program}, {lock}: status {run.returncode}: {run.stderr.strip()}", flush=True)
    lines = (line.split() for line in run.stdout.splitlines())
    return {(words[0], int(words[1])): float(words[2]) for words in lines if len(words) == 4}


def show_operations(cluster, lock):
    found = results(cluster, lock, "onesided", "busy=0.1")
    for operation in OPERATIONS:
        waits, computes = (found.get((prefix + operation + "_allocate", 8)) for prefix in ("", "busy_"))
        if waits and computes:
            print(f"| {lock} | {operation} | {waits:.0f} | {computes:.0f} | {computes / waits:.2f} |", flush=True)


def show_overlap(cluster):
    found = results(cluster, "network", "epochs", "sizes=8,32768")
    for (name, size), value in found.items():
        if not name.startswith("epoch_bandwidth"):
            print(f"{name} {size} {value:.4g}", flush=True)


def main():
    with Cluster(2, shared_network=True) as cluster:
        print("| lock | operation, 8 bytes | target waits, us | target computes, us | ratio |\n|---|---|---:|---:|---:|", flush=True)
        for lock in ("cpu", "network", "hybrid"):
            show_operations(cluster, lock)
        show_overlap(cluster)


if __name__ == "__main__":
    main()
