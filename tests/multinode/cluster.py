#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts made of namespaces on one bridge: n1, n2, ... at 10.99.0.1, 10.99.0.2, ...; or on several bridges, connected only by
multihomed hosts.

Each has its own network, host name, IPC, processes, /tmp and /dev/shm; the rest of the file system is shared. Nothing has a
name outside: everything is removed when the process that created the cluster ends, for whatever reason.

  cluster.py run 4 mpiexec -n 8 --host n1:2,n2:2,n3:2,n4:2 ./a.out   runs a command on n1; $CLUSTER_AGENT is the agent:
  cluster.py run 4 sh -c 'mpiexec -n 8 --hostfile $CLUSTER_HOSTFILE --launch-agent "$CLUSTER_AGENT" ./a.out'
  cluster.py run 4 bash                                              a shell on n1

CLUSTER_TOOL names the program `host` built from host.c; default: that of the release build.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import installed  # noqa: E402

SKIP = 77  # exit status of a test that cannot run here
HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.environ.get("CLUSTER_TOOL", os.path.join(HERE, "../../build/release/tests/multinode/host"))
NETWORK = "10.99.0."
MANY_HOSTS = 30


def hardware_address(address):
    """Of the interface with this address."""
    return "02:00:" + ":".join(f"{int(byte):02x}" for byte in address.split("."))


class CannotRun(BaseException):
    """Not root, or the kernel does not permit namespaces. Not an Exception, which unittest would record as an error of setUpClass."""


class Host:
    def __init__(self, name, places, socket, process, pid):
        self.name, self.places, self.socket, self.process, self.pid = name, places, socket, process, pid
        self.ports = {}  # network -> its interface in the switch

    @property
    def address(self):
        return self.places[0][1]


class Cluster:
    """with Cluster(4) as c: c.run("n1", ["hostname"])

    Or a dictionary of hosts with their networks, one interface for each: {"a1": [("a", "10.77.1.1")], ...}. Then a host can
    start commands only on hosts with a network in common."""

    def __init__(self, hosts, shared_network=False):
        """shared_network: no bridge and no interfaces; all hosts use the network of the caller."""
        if os.geteuid() != 0:
            raise CannotRun("only root can create network namespaces")
        if installed.find("ip") is None:
            raise CannotRun("the program ip is not installed")
        self.views = not isinstance(hosts, int)
        self.plan = hosts if self.views else {f"n{i}": [("net", NETWORK + str(i))] for i in range(1, hosts + 1)}
        self.shared_network = shared_network
        self.hosts = []
        self.bridges = {}  # by network, in the switch
        self.folder = None

    def __enter__(self):
        # Not in /tmp: the hosts have their own.
        self.folder = tempfile.mkdtemp(prefix="zc", dir="/run" if os.access("/run", os.W_OK) else "/var/tmp")
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.process.kill()
            host.process.wait()
            host.process.stdout.close()
        self.hosts = []
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _build(self):
        if self.shared_network:
            for name in self.plan:
                self._start(name)
        else:
            self._build_network()
        with open(os.path.join(self.folder, "hostfile"), "w") as f:
            f.writelines(f"{h.name} slots=2\n" for h in self.hosts if h.name != "switch")

    def _build_network(self):
        switch = self._start("switch")
        for network in dict.fromkeys(n for places in self.plan.values() for n, _ in places):
            bridge = self.bridges[network] = f"br{len(self.bridges)}"
            self._ip(switch, "link", "add", bridge, "type", "bridge")
            self._ip(switch, "link", "set", bridge, "up")
        many = len(self.plan) > MANY_HOSTS
        for name, places in self.plan.items():
            host = self._start(name, places)
            self._ip(host, "link", "set", "lo", "up")
            for i, (network, address) in enumerate(places):
                known = ["address", hardware_address(address)] if many else []
                port = host.ports[network] = f"p{len(self.hosts)}.{i}"
                self._ip(host, "link", "add", f"eth{i}", *known, "type", "veth", "peer", "name", port, "netns", str(switch.pid))
                self._ip(switch, "link", "set", port, "master", self.bridges[network], "up")
                self._ip(host, "addr", "add", address + "/24", "dev", f"eth{i}")
                self._ip(host, "link", "set", f"eth{i}", "up")
                if many:
                    self._add_neighbors(host, i, network)
            if len(places) > 1:
                self._keep_apart(host)
        if self.views:
            self._make_views()

    def _add_neighbors(self, host, interface, network):
        """The kernel has one table of neighbors for all namespaces, and limits those that it finds itself."""
        lines = [f"neigh add {address} lladdr {hardware_address(address)} dev eth{interface} nud permanent\n"
                 for name, places in self.plan.items() for n, address in places if n == network and name != host.name]
        subprocess.run(["nsenter", "-t", str(host.pid), "-n", "ip", "-batch", "-"], input="".join(lines), text=True, check=True)

    def _keep_apart(self, host):
        """A multihomed host: no forwarding, and packets from an address leave by its interface, even if two networks use one
        address range."""
        self._in_net(host, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore")
        for i, (_, address) in enumerate(host.places):
            table = str(100 + i)
            self._ip(host, "route", "add", address.rsplit(".", 1)[0] + ".0/24", "dev", f"eth{i}", "src", address, "table", table)
            self._ip(host, "rule", "add", "from", address, "table", table)
            self._ip(host, "rule", "add", "oif", f"eth{i}", "table", table)

    def _make_views(self):
        """Which hosts can start commands where: the agent searches only the folder of its own host."""
        for a in self.hosts[1:]:
            view = os.path.join(self.folder, "view." + a.name)
            os.mkdir(view)
            for b in self.hosts[1:]:
                if {n for n, _ in a.places} & {n for n, _ in b.places}:
                    os.symlink(b.socket, os.path.join(view, b.name))

    def _start(self, name, places=()):
        socket = os.path.join(self.folder, name)
        shared = ["shared-network"] if self.shared_network else []
        process = subprocess.Popen([TOOL, "init", name, socket, *shared], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        pid = process.stdout.readline().strip()
        if not pid:
            process.wait()
            raise CannotRun("no namespaces: " + process.stderr.read())
        while not os.path.exists(socket):
            if process.poll() is not None:
                raise CannotRun("a host did not start: " + process.stderr.read())
        process.stderr.close()
        host = Host(name, places, socket, process, int(pid))
        self.hosts.append(host)
        return host

    @staticmethod
    def _in_net(host, *words):
        subprocess.run(["nsenter", "-t", str(host.pid), "-n", *words], check=True, stdin=subprocess.DEVNULL)

    def _ip(self, host, *words):
        self._in_net(host, "ip", *words)

    def __getitem__(self, name):
        return next(h for h in self.hosts if h.name == name)

    @property
    def agent(self):
        """For --launch-agent."""
        return TOOL + " agent"

    def environment(self, extra=None):
        env = dict(os.environ)
        env.update(CLUSTER_DIR=self.folder, CLUSTER_AGENT=self.agent,
                   CLUSTER_HOSTFILE=os.path.join(self.folder, "hostfile"))
        env.update(extra or {})
        return env

    def command(self, name, words):
        return [TOOL, "run", self[name].socket, *map(str, words)]

    def run(self, name, words, env=None, **kw):
        """Runs a command on a host until it exits."""
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.command(name, words), env=self.environment(env), **kw)

    def start(self, name, words, env=None, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(name, words), env=self.environment(env), **kw)

    def link(self, name, state, network=None):
        """'down' disconnects the host silently, 'up' reconnects it."""
        for n, port in self[name].ports.items():
            if network in (None, n):
                self._ip(self["switch"], "link", "set", port, state)

    def kill_host(self, name):
        """Kills every process of the host at once, like a power failure (but its kernel still closes connections)."""
        os.kill(self[name].pid, 9)

    def named(self, host, name):
        """Pids, as seen from outside, of processes on a host with this name."""
        found = []
        for pid in self.pids(host):
            try:
                with open(f"/proc/{pid}/comm") as f:
                    if f.read().strip() == name:
                        found.append(pid)
            except OSError:
                pass
        return found

    def left(self):
        """Processes of hosts that have any: none after a job."""
        found = {h.name: self.pids(h.name) for h in self.hosts if h.name != "switch"}
        return {name: pids for name, pids in found.items() if pids}

    def pids(self, name):
        """Processes of a host except its init, as pids seen from outside."""
        try:
            space = os.readlink(f"/proc/{self[name].pid}/ns/pid")
        except OSError:
            return []  # the host was killed
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/ns/pid") == space and int(pid) != self[name].pid:
                    found.append(int(pid))
            except OSError:
                pass
        return found


def main():
    if len(sys.argv) < 4 or sys.argv[1] != "run" or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    try:
        with Cluster(int(sys.argv[2])) as cluster:
            sys.exit(cluster.run("n1", sys.argv[3:], stdin=None).returncode)
    except CannotRun as why:
        print(f"no cluster possible here: {why}", file=sys.stderr)
        sys.exit(SKIP)


if __name__ == "__main__":
    main()
