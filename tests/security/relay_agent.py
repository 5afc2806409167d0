#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A launch agent: relay_agent.py [--record FILE] [--alter KIND,DIRECTION,UNIT,HOST] [AGENT...] HOST DAEMON

With --record it appends the bootstrap data of the daemon to FILE. With --alter it is a man in the middle of the daemon's
control connection: it gives the daemon its own address, and alters one unit (a record, or a message of the handshake) on the
way down (to the daemon) or up. It starts the daemon with AGENT, or on this machine if there is none."""
import socket
import struct
import subprocess
import sys
import threading

CHALLENGE, RESPONSE, CONFIRM = 72, 112, 32  # launch/protocol/handshake.hpp
SECRET = 32


def read_exactly(stream, n):
    data = b""
    while len(data) < n:
        part = stream.read(n - len(data))
        if not part:
            sys.exit("relay_agent: no bootstrap data")
        data += part
    return data


class Bootstrap:
    """launch/tree/bootstrap.cpp"""

    def __init__(self, data):
        self.secret, self.rest, self.at = data[:SECRET], data[SECRET:], 0
        for _ in ("name", "version"):
            (size,) = self.take("<I")
            self.at += size
        self.at += 8  # the nodes
        self.before = self.rest[:self.at]
        (count,) = self.take("<I")
        self.addresses = []
        for _ in range(count):
            (size,) = self.take("<I")
            address = self.rest[self.at:self.at + size]
            self.at += size
            self.addresses.append((address, *self.take("<I")))
        self.after = self.rest[self.at:]

    def take(self, layout):
        values = struct.unpack_from(layout, self.rest, self.at)
        self.at += struct.calcsize(layout)
        return values

    def with_address(self, address, port):
        one = struct.pack("<II", 1, 4) + socket.inet_aton(address) + struct.pack("<I", port)
        data = self.secret + self.before + one + self.after
        return struct.pack("<I", len(data)) + data


class Direction(threading.Thread):
    def __init__(self, source, target, handshake, alteration, unit):
        super().__init__(daemon=True)
        self.source, self.target, self.handshake, self.alteration, self.unit = source, target, handshake, alteration, unit

    def receive(self, n):
        data = b""
        while len(data) < n:
            part = self.source.recv(n - len(data))
            if not part:
                return None
            data += part
        return data

    def units(self):
        for size in self.handshake:
            yield self.receive(size)
        while True:
            head = self.receive(4)
            yield head and head + (self.receive(struct.unpack("<I", head)[0]) or b"")

    def run(self):
        held = b""
        try:
            for i, unit in enumerate(self.units()):
                if unit is None:
                    break
                if i == self.unit:
                    middle = len(unit) // 2
                    flipped = unit[:middle] + bytes([unit[middle] ^ 1]) + unit[middle + 1:]
                    held = unit if self.alteration == "reorder" else b""
                    self.target.sendall({"flip": flipped, "drop": b"", "repeat": unit + unit, "reorder": b"",
                                         "truncate": unit[:middle]}[self.alteration])
                    if self.alteration == "truncate":
                        break
                    continue
                self.target.sendall(unit + held)
                held = b""
        except OSError:
            pass
        try:
            self.target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def serve(listener, parent, alteration, direction, unit):
    while True:
        below, _ = listener.accept()
        above = socket.create_connection(parent)
        for end in (below, above):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Direction(above, below, [CHALLENGE, CONFIRM], alteration, unit if direction == "down" else -1).start()
        Direction(below, above, [RESPONSE], alteration, unit if direction == "up" else -1).start()


def main():
    words = sys.argv[1:]
    record, alter = None, None
    while words and words[0] in ("--record", "--alter"):
        if words[0] == "--record":
            record = words[1]
        else:
            alter = words[1].split(",")
        words = words[2:]
    *agent, host, daemon = words
    (size,) = struct.unpack("<I", read_exactly(sys.stdin.buffer, 4))
    data = read_exactly(sys.stdin.buffer, size)
    if record:
        with open(record, "ab") as f:
            f.write(struct.pack("<I", size) + data)
    whole = struct.pack("<I", size) + data
    if alter and host == alter[3]:
        bootstrap = Bootstrap(data)
        address, port = next(a for a in bootstrap.addresses if len(a[0]) == 4)
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=serve, args=(listener, (socket.inet_ntoa(address), port), alter[0], alter[1], int(alter[2])),
                         daemon=True).start()
        whole = bootstrap.with_address(*listener.getsockname())
    command = [*agent, host, daemon] if agent else ["sh", "-c", daemon]
    started = subprocess.Popen(command, stdin=subprocess.PIPE)
    started.stdin.write(whole)
    started.stdin.close()
    sys.exit(started.wait())


if __name__ == "__main__":
    main()
