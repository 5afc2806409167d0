# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The test bed: clusters of namespaces, rate limits, the references over equal hops, and ZipMPI."""
import contextlib
import os
import re
import subprocess
import sys
import time

BENCH = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.append(os.path.join(BENCH, "..", "tests", "bridge"))

from multi_cluster import MultiCluster  # noqa: E402

CONTROL = "net.ipv4.tcp_congestion_control="
CONTROLS = ("cubic", "reno")  # Debian's default; reno where namespaces may not choose it: no packets are lost here
SECONDS = 60


class Failed(Exception):
    """A run of ZipMPI or of a reference failed."""


class Testbed:
    """with Testbed("z1", build) as testbed: testbed.tcp(...), testbed.mpi(...)"""

    def __init__(self, shape, build, slots=1, hosts=2):
        self.build, self.shape = build, shape
        os.environ["CLUSTER_TOOL"] = os.path.join(build, "tests/multinode/host")
        self.clusters = MultiCluster(shape, slots=slots, hosts=hosts)
        self.limited = []

    def __enter__(self):
        self.clusters.__enter__()
        for host in self.clusters.hosts:
            self._control_congestion(host)
        self.pair = os.path.join(self.clusters.folder, "pair.toml")  # one host on each side
        self.clusters.inner, inner = 1, self.clusters.inner
        with open(self.pair, "w", encoding="utf-8") as file:
            file.write(self.clusters.description())
        self.clusters.inner = inner
        return self

    def __exit__(self, *_):
        self.clusters.__exit__()

    def _control_congestion(self, host):
        for name in CONTROLS:
            with contextlib.suppress(subprocess.CalledProcessError):
                return self.on(host.name, "sysctl", "-qw", CONTROL + name)
        raise Failed("the namespaces accept none of " + ", ".join(CONTROLS))

    def on(self, host, *words):
        self.clusters._in_net(self.clusters[host], *words)

    # Limits: at both sides of every connection between a host and its networks.
    def limit(self, rate, hosts=None, networks=None):
        for host in self.clusters.hosts[1:]:
            for i, (network, _) in enumerate(host.places):
                if (hosts is None or host.name in hosts) and (networks is None or network in networks):
                    self.limited += [(host.name, f"eth{i}"), ("switch", host.ports[network])]
        for host, device in self.limited:
            self.on(host, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "128kb", "latency", "20ms")

    def unlimit(self):
        for host, device in self.limited:
            self.on(host, "tc", "qdisc", "del", "dev", device, "root")
        self.limited = []

    @property
    def chain(self):
        """Hosts and addresses from a1 to b1: the path of a frame."""
        g = self.clusters
        if not g.joined:
            z = g["z"]
            return [("a1", g["a1"].address), ("z", z.places[0][1]), ("b1", g["b1"].address)]
        return [("a1", g["a1"].address), ("g1", g["g1"].places[0][1]), ("g2", g["g2"].places[1][1]), ("b1", g["b1"].address)]

    def _program(self, name):
        return os.path.join(self.build, "bench", name)

    @contextlib.contextmanager
    def _started(self, host, *words):
        p = self.clusters.start(host, words, stdout=subprocess.PIPE, text=True)
        try:
            if p.stdout.readline() != "ready\n":
                raise Failed(f"{words} on {host} does not start")
            yield
        finally:
            while pids := self.clusters.named(host, os.path.basename(words[0])[:15]):
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, 9)
            p.kill()
            p.wait()
            p.stdout.close()

    def _tcp(self, to, what, port, *options):
        p = self.clusters.run("a1", [self._program("bench_bridge_tcp"), what, f"to={to}", f"port={port}", *options],
                          capture_output=True, text=True, timeout=SECONDS)
        return self._figures(p)

    def plain_tcp(self, what, *options):
        """R0: the first hop alone."""
        host, address = self.chain[1]
        with self._started(host, self._program("bench_bridge_tcp"), "serve"):
            return self._tcp(address, what, 5000, *options)

    def routed(self, what, *options):
        """Rk: the kernel forwards packets over the same hops."""
        with self._routes(), self._started("b1", self._program("bench_bridge_tcp"), "serve"):
            return self._tcp(self.chain[-1][1], what, 5000, *options)

    def relayed(self, how, what, *options):
        """Rr: a minimal relay in user space on every intermediate host."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._started("b1", self._program("bench_bridge_tcp"), "serve"))
            target, port = self.chain[-1][1], 5000
            for host, address in reversed(self.chain[1:-1]):
                stack.enter_context(self._started(host, self._program("bench_bridge_relay"), "port=5001", f"to={target}",
                                                  f"to_port={port}", f"how={how}"))
                target, port = address, 5001
            return self._tcp(target, what, port, *options)

    @contextlib.contextmanager
    def _routes(self):
        """Temporary packet routes from a1 to b1 and back, which the clusters must not have otherwise."""
        g, between = self.clusters, self.chain[1:-1]
        there, back = g.range["b"] + "0/24", g.range["a"] + "0/24"
        routes = [("a1", there, between[0][1]), ("b1", back, self._inner_address(between[-1][0], "b"))]
        if g.joined:
            routes += [("g1", there, self._inner_address("g2", "middle")), ("g2", back, self._inner_address("g1", "middle"))]
        for host, _ in between:
            self.on(host, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for host, to, via in routes:
            self.on(host, "ip", "route", "add", to, "via", via)
        try:
            yield
        finally:
            for host, to, via in routes:
                self.on(host, "ip", "route", "del", to, "via", via)
            for host, _ in between:
                self.on(host, "sysctl", "-qw", "net.ipv4.ip_forward=0")

    def _inner_address(self, host, network):
        return next(address for n, address in self.clusters[host].places if n == network)

    def across(self, program, *options, ranks=2, env=None, file=None):
        """ZipMPI through the gateways: rank 0 on a1, rank 1 on b1."""
        words = ["--clusters", file or self.pair, "-n", ranks, self._program(program), *options]
        return self._mpi("front", words, env)

    def within(self, program, *options, env=None):
        """ZipMPI inside one cluster: a1 and a2."""
        return self._mpi("a1", ["--host", "a1:1,a2:1", "-n", 2, self._program(program), *options], env)

    def _mpi(self, host, words, env):
        mpiexec = os.path.join(self.build, "bin/mpiexec")
        p = self.clusters.run(host, [mpiexec, "--launch-agent", self.clusters.agent, "--bind-to", "none", *words], env=env,
                          capture_output=True, text=True, timeout=SECONDS)
        return self._figures(p)

    def start(self, words, host):
        """Seconds of an empty job."""
        begin = time.monotonic()
        self._mpi(host, [*words, os.path.join(self.build, "tests/mpi/error_codes")], None)
        return time.monotonic() - begin

    def _figures(self, p):
        if p.returncode != 0:
            raise Failed(f"{' '.join(p.args[2:])}: status {p.returncode}\n{p.stdout}{p.stderr}")
        found = {(name, int(size)): float(value)
                 for name, size, value in re.findall(r"^(\w+) (\d+) ([\d.e+-]+) \S+$", p.stdout, re.M)}
        crossed = re.findall(r"forwarded (\d+) messages in (\d+) frames \((\d+) of", p.stderr)
        for i, (messages, frames, control) in enumerate(crossed):
            found |= {("messages", i): int(messages), ("frames", i): int(frames), ("control", i): int(control)}
        return found
