#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Unauthenticated connections to all listening ports of a running job:

  ci/hostile_connections.py [COUNT [SEED [BUILD_DIR]]]       default 100000, the time, build/release; root
  ci/hostile_connections.py rate [PER_SECOND [PAIRS [BUILD_DIR]]]     default 1000, 6, build/release

The first form: jobs of tests/multinode/message_audit run over two hosts made of namespaces. Meanwhile COUNT connections of
tests/security/hostile_connections.py are made to every listening port on one host: those of the launcher while daemons are expected,
of ranks afterwards. Ranks may send nothing to them, the launcher no more than a nonce; none may be accepted, the descriptors and the
memory of ranks must stay bounded, and the jobs must end successfully with every message in place.

The second form: the CPU time that a rank spends on PER_SECOND connections while it waits for a message, in PAIRS measurements of 2 s
without and with connections. A rank that always computes or communicates is slowed by that share. Fails above 5 % of a CPU.

Exit status 77 where hosts cannot be created.
"""
import os
import random
import signal
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATE = sys.argv[1:2] == ["rate"]
NUMBERS = [int(a) for a in sys.argv[1:] if a.isdigit()]
COUNT = NUMBERS[0] if NUMBERS else 1000 if RATE else 100000
SEED = NUMBERS[1] if len(NUMBERS) > 1 else 6 if RATE else int(time.time())
BUILD = os.path.abspath(next((a for a in sys.argv[1:] if a != "rate" and not a.isdigit()), os.path.join(ROOT, "build/release")))
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/multinode/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/multinode"))
sys.path.insert(0, os.path.join(ROOT, "tests/security"))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402
from hostile_connections import HostileConnections, enter_network, listening_ports, resources  # noqa: E402

MPIEXEC = os.path.join(BUILD, "bin/mpiexec")
MESSAGE_AUDIT = os.path.join(BUILD, "tests/multinode/message_audit")
SEQUENCED = os.path.join(BUILD, "tests/bridge/sequenced")
MAX_REPLY_BYTES = 72  # the nonce and public key of a handshake, with their header
MAX_DESCRIPTORS = 256 + 64  # unauthenticated connections of transport/stream/connection_setup.cpp, and the rank's own
MAX_RESIDENT_KB = 128 * 1024
SECONDS = 2  # of one measurement of the second form
MAX_SLOWDOWN = 0.05


class Maxima:
    """Of descriptors and memory of the ranks."""
    def __init__(self):
        self.descriptors = self.resident_kb = 0

    def add(self, pids):
        for pid in pids:
            try:
                descriptors, resident_kb = resources(pid)
            except (OSError, StopIteration):
                continue  # it has ended
            self.descriptors = max(self.descriptors, descriptors)
            self.resident_kb = max(self.resident_kb, resident_kb)


def hostile_round(cluster, connections, maxima, number):
    """One job; the launcher's ports are open while its agent sleeps."""
    agent = f"sh -c 'sleep 1.5; exec {cluster.agent} \"$@\"' agent"
    job = cluster.start("n1", [MPIEXEC, "--launch-agent", agent, "-n", "4", "--host", "n1:2,n2:2", "--timeout", "120", MESSAGE_AUDIT,
                               SEED + number, 3], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = False
    next_scan = 0
    ports = []
    while job.poll() is None and connections.made < COUNT:
        if time.monotonic() >= next_scan:
            ports = listening_ports()
            seen = seen or bool(ports)
            next_scan = time.monotonic() + 0.2
            if not listening_ports("message_audit"):
                connections.launcher = connections.launcher | {p for _, p in ports}
            maxima.add(cluster.named("n1", "message_audit"))
        connections.make_many(ports)
        connections.step()
    connections.close_all()
    out, err = job.communicate(timeout=120)
    if job.returncode != 0 or err or out.count("over") != 4 or "WRONG" in out:
        print(f"the job failed: status {job.returncode}\n{out}\n{err}")
        return False
    return seen


def run_count(cluster):
    print(f"seed {SEED}, {COUNT} connections", flush=True)
    connections = HostileConnections(random.Random(SEED))
    maxima = Maxima()
    problems = []
    begin = time.monotonic()
    number = 0
    while connections.made < COUNT and not problems:
        number += 1
        if not hostile_round(cluster, connections, maxima, number):
            problems.append("a job failed")
        print(f"{connections.made} connections, {connections.refused} refused, {number} jobs, {time.monotonic() - begin:.0f} s, "
              f"longest reply: {connections.max_reply_bytes}, at most {maxima.descriptors} descriptors and "
              f"{maxima.resident_kb} KB per rank", flush=True)
    if connections.max_reply_bytes["launcher"] > MAX_REPLY_BYTES:
        problems.append(f"the launcher sent {connections.max_reply_bytes['launcher']} bytes to an unauthenticated connection")
    if connections.max_reply_bytes["ranks"] > 0:
        problems.append(f"a rank sent {connections.max_reply_bytes['ranks']} bytes to an unauthenticated connection")
    if maxima.descriptors > MAX_DESCRIPTORS or maxima.resident_kb > MAX_RESIDENT_KB:
        problems.append("a rank used too many descriptors or too much memory")
    print(f"hostile connections: {connections.made}, {'; '.join(problems) or 'none accepted'}")
    return 1 if problems else 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0]) * 1e-9


def cpu_share(pid, connections, ports):
    """Of a process, with COUNT connections per second to one of the ports; no port: without."""
    before, begin, made = cpu_seconds(pid), time.monotonic(), 0
    while time.monotonic() - begin < SECONDS:
        for _ in range(int((time.monotonic() - begin) * COUNT) - made if ports else 0):
            connections.make(ports[0])
            made += 1
        connections.step(0.001)
    return (cpu_seconds(pid) - before) / (time.monotonic() - begin)


def run_rate(cluster):
    pairs = SEED
    # Polls between a wakeup and the next sleep are no work for connections.
    waits = [word for name in ("SPINS", "NET_SPINS", "YIELDS", "NET_YIELDS") for word in ("-x", f"ZIPMPI_WAIT_{name}=0")]
    job = cluster.start("n1", [MPIEXEC, "--launch-agent", cluster.agent, *waits, "-n", "2", "--host", "n1:1,n2:1", SEQUENCED, 1, 4096, 2],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not listening_ports("sequenced") and job.poll() is None:
        time.sleep(0.1)
    time.sleep(1)  # until the ranks exchange messages
    waiting, stopped = cluster.named("n1", "sequenced")[0], cluster.named("n2", "sequenced")[0]
    os.kill(stopped, signal.SIGSTOP)  # the other rank waits for it, and sleeps
    connections = HostileConnections(random.Random(1))
    shares = []
    time.sleep(0.5)
    for _ in range(pairs):
        idle = cpu_share(waiting, connections, [])
        shares.append(cpu_share(waiting, connections, listening_ports("sequenced")) - idle)
        print(f"CPU of the rank: {100 * idle:.2f} % without, {100 * (idle + shares[-1]):.2f} % with connections", flush=True)
    rate = connections.made / (pairs * SECONDS)
    connections.close_all()
    os.kill(stopped, signal.SIGCONT)
    _, err = job.communicate(timeout=120)
    share = statistics.median(shares)
    print(f"{connections.made} connections, {rate:.0f} per second: {100 * share:.1f} % of a CPU (median of {pairs}), "
          f"longest reply {connections.max_reply_bytes['ranks']} bytes, job {'failed: ' + err if job.returncode or err else 'successful'}")
    return 1 if share > MAX_SLOWDOWN or connections.max_reply_bytes["ranks"] > 0 or job.returncode or err else 0


def run():
    with Cluster(2) as cluster:
        if not enter_network(cluster["n1"].pid):
            raise CannotRun("the network of a host cannot be entered")
        return run_rate(cluster) if RATE else run_count(cluster)


if __name__ == "__main__":
    try:
        sys.exit(run())
    except CannotRun as reason:
        print(reason)
        sys.exit(SKIP)
