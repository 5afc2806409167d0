# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""ucx_perftest (Debian: ucx-utils) as a further reference: UCX without an MPI library. Left out if not installed."""
import shutil
import socket
import subprocess
import time

from .stats import Line
from .libraries import environment

TESTS = (("tag_lat", "ucx_tag_latency", "us"), ("tag_bw", "ucx_tag_bandwidth", "MB/s"))
SIZES = {8: 100000, 1024: 100000, 65536: 20000, 1048576: 1000}  # bytes: iterations
LIMIT = 20  # seconds


def present():
    return shutil.which("ucx_perftest") is not None


def parse_final(text, unit):
    """The overall column of the final line: latency in us, or bandwidth in MB/s."""
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "Final:":
            return float(words[4]) if unit == "us" else float(words[6]) * (1 << 20) / 1e6
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def once(test, size, iterations, cores):
    env = environment() | {"UCX_TLS": "posix,cma,self"}
    common = ["ucx_perftest", "-p", str(free_port()), "-c"]
    server = subprocess.Popen([*common, "0"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.2)
        client = subprocess.run([*common, str(1 % cores), "-t", test, "-s", str(size), "-n", str(iterations), "-f", "127.0.0.1"],
                                env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
        return client.stdout
    except subprocess.TimeoutExpired:
        return ""
    finally:
        server.kill()
        server.wait()


def measure(cores):
    lines = []
    for test, name, unit in TESTS:
        for size, iterations in SIZES.items():
            value = parse_final(once(test, size, iterations, cores), unit)
            if value is not None:
                lines.append(Line(name, size, value, unit))
    return lines
