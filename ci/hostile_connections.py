#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Unauthenticated connections to all listening ports of a running job: ci/hostile_connections.py [COUNT] [SEED] [BUILD_DIR]

A job of tests/multinode/message_audit runs over two hosts made of namespaces. Meanwhile COUNT connections (default 100000) are
made to every listening port on either host: those of the launcher while daemons are expected, of ranks afterwards. They send
nothing, random bytes, the magic number of UCX's TCP transport with a connection request, or handshakes of ranks that are cut at
every byte, and some stay open for a while. Ranks may send nothing to them, the launcher no more than a nonce; none may be
accepted, and the jobs must end successfully with every message in place. Root only; 77 where hosts cannot be created.
"""
import ctypes
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
BUILD = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "build/release"))
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/multinode/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/multinode"))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402

os.environ["ZIPMPI_NET_ENGINE"] = "tcp"  # UCX replies to connections
MPIEXEC = os.path.join(BUILD, "bin/mpiexec")
MESSAGE_AUDIT = os.path.join(BUILD, "tests/multinode/message_audit")
MAX_REPLY_BYTES = 72  # the nonce and public key of a handshake, with their header
MAX_OPEN = 200
UCX_REQUEST = struct.pack("<QBIII", 0xCAFEBABE12345678, 31, 48, 1, 0)  # magic number, header, event
HELLO = struct.pack("<4sIQQiiQii", b"MZW1", 1, 0, 0, 1, 0, 0, 0, 0) + bytes(48)  # of rank 1 to rank 0, with a wrong code
PREFIXES = (b"", UCX_REQUEST, b"ZMPI", b"MZN1", b"\0\0\0\0", b"cmd=init pmi_version=1 pmi_subversion=1\n", b"GET / HTTP/1.0\r\n\r\n")


def enter_network(pid):
    """Moves this process, and those it starts, into the host's network."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{pid}/ns/net") as f:
        if libc.setns(f.fileno(), 0) != 0:
            raise CannotRun("setns: " + os.strerror(ctypes.get_errno()))


def ports():
    listed = subprocess.run(["ss", "-Htln"], capture_output=True, text=True, check=True).stdout
    found = [line.split()[3].rsplit(":", 1) for line in listed.splitlines()]
    return [(a.strip("[]"), int(p)) for a, p in found if "%" not in a and ":" not in a]


class HostileConnections:
    def __init__(self, rng):
        self.rng = rng
        self.open = {}  # socket: (bytes received, time at which it is closed)
        self.made = self.refused = 0
        self.max_reply_bytes = {}

    def make(self, where):
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        s.setblocking(False)
        try:
            s.connect(where)
        except BlockingIOError:
            pass
        except OSError:
            self.refused += 1
            s.close()
            return
        self.made += 1
        silent = self.rng.random() < 0.05
        self.open[s] = [0, time.monotonic() + (self.rng.uniform(0, 1) if silent else 0.05), silent, where]

    def bytes(self):
        if self.made % 2 == 0:
            return HELLO[:self.made // 2 % (len(HELLO) + 1)]
        begin = self.rng.choice(PREFIXES)
        return begin + self.rng.randbytes(self.rng.choice((0, 1, 7, 111, 112, 500, 4000)))

    def step(self):
        now = time.monotonic()
        readable, writable, _ = select.select(list(self.open), [s for s, o in self.open.items() if not o[2]], [], 0.01)
        for s in writable:
            self.open[s][2] = True
            try:
                s.send(self.bytes())
            except OSError:
                pass
        for s in readable:
            try:
                got = len(s.recv(65536))
            except OSError:
                got = 0
            self.open[s][0] += got
            if got == 0:
                self.open[s][1] = 0
        for s in [s for s, o in self.open.items() if o[1] < now]:
            received, _, _, where = self.open.pop(s)
            kind = "launcher" if where[1] in self.launcher else "ranks"
            self.max_reply_bytes[kind] = max(self.max_reply_bytes.get(kind, 0), received)
            s.close()

    launcher = frozenset()


def hostile_round(cluster, connections, number):
    """One job; the launcher's ports are open while its agent sleeps."""
    agent = f"sh -c 'sleep 1.5; exec {cluster.agent} \"$@\"' agent"
    job = cluster.start("n1", [MPIEXEC, "--launch-agent", agent, "-n", "4", "--host", "n1:2,n2:2", "--timeout", "120", MESSAGE_AUDIT,
                               SEED + number, 3], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = set()
    next_scan = 0
    where = []
    while job.poll() is None and connections.made < COUNT:
        if time.monotonic() >= next_scan:
            where = ports()
            seen.update(where)
            next_scan = time.monotonic() + 0.2
            if b"message_audit" not in subprocess.run(["ss", "-Htlnp"], capture_output=True, check=True).stdout:
                connections.launcher = connections.launcher | {p for _, p in where}
        while where and len(connections.open) < MAX_OPEN:
            connections.make(connections.rng.choice(where))
        connections.step()
    while connections.open:
        connections.step()
    out, err = job.communicate(timeout=120)
    if job.returncode != 0 or err or out.count("over") != 4 or "WRONG" in out:
        print(f"the job failed: status {job.returncode}\n{out}\n{err}")
        return False
    return bool(seen)


def run():
    print(f"seed {SEED}, {COUNT} connections", flush=True)
    connections = HostileConnections(random.Random(SEED))
    good = True
    begin = time.monotonic()
    with Cluster(2) as cluster:
        enter_network(cluster["n1"].pid)
        number = 0
        while connections.made < COUNT and good:
            number += 1
            good = hostile_round(cluster, connections, number)
            print(f"{connections.made} connections, {connections.refused} refused, {number} jobs, {time.monotonic() - begin:.0f} s, "
                  f"longest reply: {connections.max_reply_bytes}", flush=True)
    if connections.max_reply_bytes.get("launcher", 0) > MAX_REPLY_BYTES:
        print(f"the launcher sent {connections.max_reply_bytes['launcher']} bytes to an unauthenticated connection")
        good = False
    if connections.max_reply_bytes.get("ranks", 0) > 0:
        print(f"a rank sent {connections.max_reply_bytes['ranks']} bytes to an unauthenticated connection")
        good = False
    print(f"hostile connections: {connections.made}, {'none accepted' if good else 'FAILED'}")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(run())
    except CannotRun as reason:
        print(reason)
        sys.exit(SKIP)
