#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""limits.py flood|paths BUILD [MESSAGES]: see ci/bridge_limits.sh. The functions are also used by test_messages.py."""
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

from multi_cluster import MULTIHOMED, MultiCluster

POOL = 64 << 20  # gateway.buffer_limit
LIMIT = "100mbit"


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1]) << 10


class MemoryMonitor(threading.Thread):
    """Samples the memory of a gateway from its first appearance on."""

    def __init__(self, clusters, host):
        super().__init__(daemon=True)
        self.clusters, self.host, self.sizes, self.over = clusters, host, [], False

    def run(self):
        while not self.over:
            try:
                self.sizes += [resident(pid) for pid in self.clusters.named(self.host, "zipmpi-gateway")[:1]]
            except (OSError, TypeError):
                pass
            time.sleep(0.05)

    def grown(self):
        self.over = True
        self.join()
        return max(self.sizes) - self.sizes[0]


def flood(clusters, start, program, messages):
    """Growth of a gateway in bytes, and the fraction of its rate that a second flow keeps."""
    monitor = MemoryMonitor(clusters, MULTIHOMED[0])
    job = start("-n", "4", program, str(messages), str(64 << 10))
    monitor.start()
    out, err = job.communicate(timeout=300)
    if job.returncode != 0:
        raise RuntimeError(err)
    before, during, seconds = map(float, re.findall(r"[\d.]+", out))
    return monitor.grown(), during / before, seconds


def limit(clusters):
    for host in MULTIHOMED[:len(clusters.edges)]:
        for device in ("eth0", "eth1"):
            clusters.run(host, ["tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", LIMIT, "burst", "128kb", "latency", "20ms"])


def rates(job):
    """Samples of a running goodput: (seconds, MB/s)."""
    out, err = job.communicate(timeout=120)
    if job.returncode != 0:
        raise RuntimeError(err)
    return [tuple(map(float, line.split())) for line in out.splitlines()]


def middle(found, begin, end):
    return statistics.median(rate for at, rate in found if begin <= at < end)


def paths(clusters, start, program, seconds=4):
    """Goodput with both gateways, with one of them stopped, and after it continues."""
    job = start("-n", "2", program, str(3 * seconds + 6))
    time.sleep(1)
    while not clusters.named(MULTIHOMED[1], "zipmpi-gateway"):
        time.sleep(0.05)
    gateway = clusters.named(MULTIHOMED[1], "zipmpi-gateway")[0]
    time.sleep(seconds)
    os.kill(gateway, signal.SIGSTOP)
    time.sleep(seconds + 2)
    os.kill(gateway, signal.SIGCONT)
    found = rates(job)
    end = found[-1][0]
    return {"both": middle(found, 1, seconds), "one": middle(found, seconds + 2.5, 2 * seconds + 2.5),
            "back": middle(found, 2 * seconds + 8, end + 1)}


def main():
    what, build = sys.argv[1], os.path.abspath(sys.argv[2])
    messages = int(sys.argv[3]) if len(sys.argv) > 3 else 10000

    def starter(clusters):
        return lambda *args: clusters.start("front", [f"{build}/bin/mpiexec", "--launch-agent", clusters.agent, "--clusters", clusters.file, *args],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    if what == "flood":
        with MultiCluster("z1") as clusters:
            grown, kept, seconds = flood(clusters, starter(clusters), f"{build}/tests/bridge/flood", messages)
        print(f"B12: {messages} messages of 64 KiB in {seconds} s: the gateway grew by {grown / 2**20:.1f} MiB (at most 64), "
              f"the other flow kept {kept:.3f} of its rate (at least 0.8)")
        return not (grown <= POOL and kept >= 0.8)
    with MultiCluster("z1", hosts=1) as clusters:
        limit(clusters)
        alone = middle(rates(starter(clusters)("-n", "2", f"{build}/tests/bridge/goodput", "5")), 1, 5)
    with MultiCluster("z1x2", hosts=1) as clusters:
        limit(clusters)
        found = paths(clusters, starter(clusters), f"{build}/tests/bridge/goodput")
    print(f"B15: paths of {LIMIT}, MB/s: one alone {alone:.1f}, two {found['both']:.1f}, one of them stopped {found['one']:.1f} "
          f"({found['one'] / alone:.3f} of one alone, at least 0.95), 5 s after its return {found['back']:.1f} "
          f"({found['back'] / alone:.3f}, at least 1.8)")
    return not (found["one"] >= 0.95 * alone and found["back"] >= 1.8 * alone)


if __name__ == "__main__":
    sys.exit(main())
