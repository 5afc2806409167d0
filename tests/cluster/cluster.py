#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts made of namespaces on one bridge: n1, n2, ... at 10.99.0.1, 10.99.0.2, ...

Each has its own network, host name, IPC, processes, /tmp and /dev/shm; the rest of the file system is shared. Nothing
has a name outside: when the process that made the cluster ends, in whatever way, everything is gone.

  cluster.py run 4 mpiexec -n 8 --host n1:2,n2:2,n3:2,n4:2 ./a.out   runs a command on n1; $CLUSTER_AGENT is the agent:
  cluster.py run 4 sh -c 'mpiexec -n 8 --hostfile $CLUSTER_HOSTFILE --launch-agent "$CLUSTER_AGENT" ./a.out'
  cluster.py run 4 bash                                              a shell on n1

CLUSTER_TOOL names the program `host` built from host.c; the default is where release builds have it.
"""
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77  # exit status of a test that cannot run here
HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.environ.get("CLUSTER_TOOL", os.path.join(HERE, "../../build/release/tests/cluster/host"))
NETWORK = "10.99.0."


class CannotRun(Exception):
    """Not root, or the kernel refuses namespaces."""


class Host:
    def __init__(self, name, address, socket, process, pid):
        self.name, self.address, self.socket, self.process, self.pid = name, address, socket, process, pid


class Cluster:
    """with Cluster(4) as c: c.run("n1", ["hostname"])"""

    def __init__(self, hosts, shared_network=False):
        """shared_network: no bridge and no interfaces; all hosts use the network of the caller."""
        if os.geteuid() != 0:
            raise CannotRun("only root can make network namespaces")
        if shutil.which("ip") is None:
            raise CannotRun("the program ip is not installed")
        self.count = hosts
        self.shared_network = shared_network
        self.hosts = []
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
            for i in range(1, self.count + 1):
                self._start(f"n{i}")
        else:
            self._build_network()
        with open(os.path.join(self.folder, "hostfile"), "w") as f:
            f.writelines(f"{h.name} slots=2\n" for h in self.hosts if h.name != "switch")

    def _build_network(self):
        switch = self._start("switch")
        self._ip(switch, "link", "add", "br0", "type", "bridge")
        self._ip(switch, "link", "set", "br0", "up")
        for i in range(1, self.count + 1):
            host = self._start(f"n{i}", NETWORK + str(i))
            self._ip(host, "link", "add", "eth0", "type", "veth", "peer", "name", f"p{i}", "netns", str(switch.pid))
            self._ip(switch, "link", "set", f"p{i}", "master", "br0", "up")
            self._ip(host, "addr", "add", host.address + "/24", "dev", "eth0")
            self._ip(host, "link", "set", "eth0", "up")
            self._ip(host, "link", "set", "lo", "up")

    def _start(self, name, address=None):
        socket = os.path.join(self.folder, name)
        shared = ["shared-network"] if self.shared_network else []
        process = subprocess.Popen([TOOL, "init", name, socket, *shared], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        pid = process.stdout.readline().strip()
        if not pid:
            process.wait()
            raise CannotRun("no namespaces: " + process.stderr.read())
        process.stderr.close()
        while not os.path.exists(socket):
            pass
        host = Host(name, address, socket, process, int(pid))
        self.hosts.append(host)
        return host

    @staticmethod
    def _ip(host, *words):
        subprocess.run(["nsenter", "-t", str(host.pid), "-n", "ip", *words], check=True, stdin=subprocess.DEVNULL)

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
        """Runs a command on a host to its end."""
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.command(name, words), env=self.environment(env), **kw)

    def start(self, name, words, env=None, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(name, words), env=self.environment(env), **kw)

    def link(self, name, state):
        """'down' cuts the host off without a word, 'up' brings it back."""
        switch = self["switch"]
        self._ip(switch, "link", "set", "p" + name[1:], state)

    def kill_host(self, name):
        """Every process of the host at once, like a power failure (but its kernel still closes connections)."""
        os.kill(self[name].pid, 9)

    def pids(self, name):
        """Processes of a host other than its init, as pids outside."""
        space = os.readlink(f"/proc/{self[name].pid}/ns/pid")
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
        print(f"no cluster here: {why}", file=sys.stderr)
        sys.exit(SKIP)


if __name__ == "__main__":
    main()
