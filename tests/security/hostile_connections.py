# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Unauthenticated connections to listening ports, for test_hostile_connections.py and ci/hostile_connections.py.

They send nothing, random bytes, the magic number of UCX's TCP transport with a connection request, first lines of other protocols,
or handshakes of ranks that are cut at every byte; some stay open for a while.
"""
import ctypes
import os
import select
import socket
import struct
import subprocess
import time

UCX_REQUEST = struct.pack("<QBIII", 0xCAFEBABE12345678, 31, 48, 1, 0)  # magic number, header, event
HELLO_BYTES = 96
PREFIXES = (b"", UCX_REQUEST, b"ZMPI", b"MZN1", b"\0\0\0\0", b"cmd=init pmi_version=1 pmi_subversion=1\n", b"GET / HTTP/1.0\r\n\r\n")
RANKS = 4
MAX_OPEN = 200


def hello(number):
    """Of one rank to another as transport/stream/process_handshake.hpp defines it, with a wrong authentication code."""
    to = number % RANKS
    return struct.pack("<4sIQQiiQii", b"MZW1", 1, 0, 0, (to + 1) % RANKS, 0, 0, to, 0) + bytes(48)


def enter_network(pid):
    """Moves this thread, and the processes it starts, into the network of a host. Returns whether it could."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{pid}/ns/net") as f:
        return libc.setns(f.fileno(), 0) == 0


def listening_ports(program=""):
    """Addresses and ports of this network, optionally of one program."""
    listed = subprocess.run(["ss", "-Htlnp"], capture_output=True, text=True, check=True).stdout
    found = [line.split()[3].rsplit(":", 1) for line in listed.splitlines() if program in line]
    return [(a.strip("[]"), int(p)) for a, p in found if "%" not in a and ":" not in a]


class HostileConnection:
    def __init__(self, where, silent, close_at):
        self.where, self.silent, self.close_at = where, silent, close_at
        self.sent, self.received = silent, 0


class HostileConnections:
    def __init__(self, rng):
        self.rng = rng
        self.open = {}  # by socket
        self.made = self.refused = 0
        self.launcher = frozenset()  # its ports: it may send a nonce
        self.max_reply_bytes = {"launcher": 0, "ranks": 0}

    def make(self, where, silent_seconds=None):
        """silent_seconds: time for which it stays open and sends nothing; None: it sends, or is chosen to be silent."""
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
        if silent_seconds is None and self.rng.random() < 0.05:
            silent_seconds = self.rng.uniform(0, 1)
        seconds = 0.05 if silent_seconds is None else silent_seconds
        self.open[s] = HostileConnection(where, silent_seconds is not None, time.monotonic() + seconds)

    def make_many(self, ports, most=MAX_OPEN):
        while ports and len(self.open) < most:
            self.make(self.rng.choice(ports))

    def bytes(self):
        if self.made % 2 == 0:
            number = self.made // 2
            return hello(number // (HELLO_BYTES + 1))[:number % (HELLO_BYTES + 1)]
        begin = self.rng.choice(PREFIXES)
        return begin + self.rng.randbytes(self.rng.choice((0, 1, 7, 111, 112, 500, 4000)))

    def step(self, seconds=0.01):
        now = time.monotonic()
        readable, writable, _ = select.select(list(self.open), [s for s, c in self.open.items() if not c.sent], [], seconds)
        for s in writable:
            self.open[s].sent = True
            try:
                s.send(self.bytes())
            except OSError:
                pass
        for s in readable:
            try:
                got = len(s.recv(65536))
            except OSError:
                got = 0
            self.open[s].received += got
            if got == 0:
                self.open[s].close_at = 0
        for s in [s for s, c in self.open.items() if c.close_at < now]:
            c = self.open.pop(s)
            kind = "launcher" if c.where[1] in self.launcher else "ranks"
            self.max_reply_bytes[kind] = max(self.max_reply_bytes[kind], c.received)
            s.close()

    def close_all(self):
        for c in self.open.values():
            c.close_at = 0
        while self.open:
            self.step()


def resources(pid):
    """Descriptors and resident kilobytes of a process."""
    with open(f"/proc/{pid}/status") as f:
        resident = next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))
    return len(os.listdir(f"/proc/{pid}/fd")), resident
