#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Connections of strangers to everything that a running job listens on: ci/strangers.py [COUNT] [SEED] [BUILD_DIR]

A job of tests/cluster/ledger runs over two hosts that are namespaces. Meanwhile COUNT connections (default 100000) are
made to every listening port on either host: those of the launcher while daemons are expected, of UCX afterwards. They
send nothing, random bytes, or bytes that begin like a hello of ours, and some stay open for a while. None sends the
magic number of UCX's TCP transport, so this says nothing about how UCX reads what comes after it. None may be told more than
a nonce, none may be let in, and the jobs must end well with every message in place. Root only; 77 where there can be no
hosts.
"""
import ctypes
import os
import random
import select
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
BUILD = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "build/release"))
os.environ.setdefault("CLUSTER_TOOL", os.path.join(BUILD, "tests/cluster/host"))
sys.path.insert(0, os.path.join(ROOT, "tests/cluster"))
from cluster import SKIP, CannotRun, Cluster  # noqa: E402

MPIEXEC = os.path.join(BUILD, "bin/mpiexec")
LEDGER = os.path.join(BUILD, "tests/cluster/ledger")
MOST_TOLD = 40  # bytes: the nonce of a hello, with its head
AT_A_TIME = 200
BEGINNINGS = (b"", b"ZMPI", b"MZN1", b"\0\0\0\0", b"cmd=init pmi_version=1 pmi_subversion=1\n", b"GET / HTTP/1.0\r\n\r\n")


def enter_network(pid):
    """This process, and those it starts, are on the host from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{pid}/ns/net") as f:
        if libc.setns(f.fileno(), 0) != 0:
            raise CannotRun("setns: " + os.strerror(ctypes.get_errno()))


def ports():
    listed = subprocess.run(["ss", "-Htln"], capture_output=True, text=True, check=True).stdout
    found = [line.split()[3].rsplit(":", 1) for line in listed.splitlines()]
    return [(a.strip("[]"), int(p)) for a, p in found if "%" not in a and ":" not in a]


class Strangers:
    def __init__(self, dice):
        self.dice = dice
        self.open = {}  # socket: (bytes heard, until when it is kept)
        self.made = self.refused = 0
        self.most_told = {}

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
        silent = self.dice.random() < 0.05
        self.open[s] = [0, time.monotonic() + (self.dice.uniform(0, 1) if silent else 0.05), silent, where]

    def bytes(self):
        begin = self.dice.choice(BEGINNINGS)
        return begin + self.dice.randbytes(self.dice.choice((0, 1, 7, 79, 80, 500, 4000)))

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
            told, _, _, where = self.open.pop(s)
            kind = "launcher" if where[1] in self.launcher else "UCX"
            self.most_told[kind] = max(self.most_told.get(kind, 0), told)
            s.close()

    launcher = frozenset()


def round_of_strangers(cluster, crowd, number):
    """One job; the launcher's ports are open as long as its agent sleeps."""
    agent = f"sh -c 'sleep 1.5; exec {cluster.agent} \"$@\"' agent"
    job = cluster.start("n1", [MPIEXEC, "--launch-agent", agent, "-n", "4", "--host", "n1:2,n2:2", "--timeout", "120", LEDGER,
                               SEED + number, 3], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = set()
    look_at = 0
    where = []
    while job.poll() is None and crowd.made < COUNT:
        if time.monotonic() >= look_at:
            where = ports()
            seen.update(where)
            look_at = time.monotonic() + 0.2
            if b"ledger" not in subprocess.run(["ss", "-Htlnp"], capture_output=True, check=True).stdout:
                crowd.launcher = crowd.launcher | {p for _, p in where}
        while where and len(crowd.open) < AT_A_TIME:
            crowd.make(crowd.dice.choice(where))
        crowd.step()
    while crowd.open:
        crowd.step()
    out, err = job.communicate(timeout=120)
    if job.returncode != 0 or err or out.count("over") != 4 or "WRONG" in out:
        print(f"the job did not end well: status {job.returncode}\n{out}\n{err}")
        return False
    return bool(seen)


def run():
    print(f"seed {SEED}, {COUNT} connections", flush=True)
    crowd = Strangers(random.Random(SEED))
    good = True
    begin = time.monotonic()
    with Cluster(2) as cluster:
        enter_network(cluster["n1"].pid)
        number = 0
        while crowd.made < COUNT and good:
            number += 1
            good = round_of_strangers(cluster, crowd, number)
            print(f"{crowd.made} connections, {crowd.refused} refused, {number} jobs, {time.monotonic() - begin:.0f} s, "
                  f"most bytes told: {crowd.most_told}", flush=True)
    if crowd.most_told.get("launcher", 0) > MOST_TOLD:
        print(f"the launcher has told a stranger {crowd.most_told['launcher']} bytes")
        good = False
    print(f"strangers: {crowd.made} connections, {'none let in' if good else 'WRONG'}")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(run())
    except CannotRun as reason:
        print(reason)
        sys.exit(SKIP)
