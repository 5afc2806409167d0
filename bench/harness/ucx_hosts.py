# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""ucx_perftest between two hosts: UCX's active messages over the network without an MPI library. Polling, one core each. Both
sides run a list of tests; as in bench/programs, points are swept over and the median of the sweeps counts."""
import os
import statistics
import subprocess
import time

from . import hosts
from .stats import Line
from .libraries import environment
from .suites import NETWORK_SIZES

LATENCY, BANDWIDTH = "ucx_am_latency", "ucx_am_bandwidth"
TESTS = {LATENCY: ("ucp_am_lat", "us"), BANDWIDTH: ("ucp_am_bw", "MB/s")}
SWEEPS = 3
MIN_BANDWIDTH = 4096  # bytes; smaller ones measure the message rate
BATCH = 15000  # microseconds of a test
LIMIT = 40  # seconds
SETTINGS = (("UCX_TLS", "tcp"), ("UCX_NET_DEVICES", hosts.DEVICE), ("UCX_WARN_UNUSED_ENV_VARS", "n"))


def iterations(name, size):
    """Iterations that fill a batch, at 7 us and 1500 bytes/us; never fewer than a window of bench/programs."""
    transfer = size / 1500
    each = 2 * (7 + transfer) if name == LATENCY else max(1.0, transfer)
    return max(20 if name == LATENCY else 64, int(BATCH / each))


def sizes_of(name):
    return [size for size in NETWORK_SIZES if name == LATENCY or size >= MIN_BANDWIDTH]


def list_of_tests():
    lines = []
    for _ in range(SWEEPS):
        for name, (test, _) in TESTS.items():
            for size in sizes_of(name):
                count = iterations(name, size)
                lines.append(f"{name}.{size} -t {test} -s {size} -n {count} -w {count // 8 + 8}")
    return "\n".join(lines) + "\n"


def parse_list(text):
    """The overall columns of the table, latency in us or bandwidth in MB/s: the medians of the sweeps."""
    values = {}
    for line in text.splitlines():
        words = line.split(",")
        name, _, size = words[0].strip().partition(".")
        if name in TESTS and len(words) >= 7:
            value = float(words[4]) if name == LATENCY else float(words[6]) * (1 << 20) / 1e6
            values.setdefault((name, int(size)), []).append(value)
    return [Line(name, size, statistics.median(found), TESTS[name][1]) for (name, size), found in values.items()]


def measure(cluster, folder, cores):
    """The lines of one round; none on failure."""
    path = os.path.join(folder, "ucx_tests")
    with open(path, "w", encoding="utf-8") as file:
        file.write(list_of_tests())
    env = environment(SETTINGS)
    server = subprocess.Popen(cluster.command("n2", ["ucx_perftest", "-c", 1 % cores, "-b", path]), env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        client = cluster.command("n1", ["ucx_perftest", cluster["n2"].address, "-c", 0, "-b", path, "-v"])
        run = subprocess.run(client, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                             check=False)
        return parse_list(run.stdout)
    except subprocess.TimeoutExpired:
        return []
    finally:
        hosts.clean_up(cluster)
        server.wait()
