# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts made of namespaces on this machine (tests/multinode), and the libraries over them. Every launcher runs on the first
host and starts the others through one agent."""
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys

from .libraries import BENCH, Library, zipmpi_library, peers

AGENT = os.path.join(BENCH, "harness", "agent.sh")
FOLDER = os.path.join(os.path.dirname(BENCH), "tests", "multinode")
DEVICE = "eth0"
CONGESTION = "net.ipv4.tcp_congestion_control=cubic"  # Debian's default, independent of this machine
# Without these names Open MPI finds no transport for windows here.
OVER_TCP = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader", "--mca", "btl_tcp_if_include", DEVICE, "--mca", "osc", "pt2pt"]
OVER_UCX = ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any",
            "-x", "UCX_TLS=tcp,self,sm", "-x", f"UCX_NET_DEVICES={DEVICE}"]
OPENMPI = ["--mca", "plm_rsh_agent", AGENT, "--mca", "oob_tcp_if_include", DEVICE, "--bind-to", "none"]
# A launcher counts the cores of each host separately, but all hosts share the same cores.
PIN = 'exec taskset -c $((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % CORES)) "$@"'


class NoHosts(Exception):
    """Hosts cannot be created here."""


def module_of_cluster(tool):
    os.environ["CLUSTER_TOOL"] = tool
    spec = importlib.util.spec_from_file_location("cluster", os.path.join(FOLDER, "cluster.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def set_congestion_control(cluster, host):
    """Some kernels restrict a namespace to the machine's allowed algorithms: then all libraries use the machine's default."""
    command = cluster.command(host.name, ["sysctl", "-qw", CONGESTION])
    if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0 and host is cluster.hosts[0]:
        print(f"compare: {CONGESTION} is not possible on the hosts; the machine's default is used", file=sys.stderr)


@contextlib.contextmanager
def made(count, folder):
    """`count` hosts; `folder` must be visible to them, so not in /tmp."""
    tool = os.path.join(folder, "host")
    subprocess.run(["cc", "-O2", os.path.join(FOLDER, "host.c"), "-o", tool], check=True)
    module = module_of_cluster(tool)
    try:
        with module.Cluster(count) as cluster:
            for host in cluster.hosts:
                set_congestion_control(cluster, host)
            os.environ.update(CLUSTER_DIR=cluster.folder, CLUSTER_AGENT=cluster.agent)
            yield cluster
    except module.CannotRun as reason:
        raise NoHosts(str(reason)) from reason


def clean_up(cluster):
    """Ends everything on the hosts: a process there outlives the launcher."""
    for host in cluster.hosts[1:]:
        for pid in cluster.pids(host.name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class OverHosts(Library):
    """A library whose launcher gets its hosts by `host_option`. `oversubscribed`: its options for more ranks than cores."""

    def __init__(self, library, cluster, words, host_option, oversubscribed=(), settings=()):
        super().__init__(library.key, library.title, library.compiler, [library.launcher[0], *words], [], list(oversubscribed),
                         library.version_command, settings)
        self.cluster, self.host_option = cluster, host_option

    def command(self, run, cores):
        each, rest = divmod(run.ranks, run.hosts)
        if rest:
            raise ValueError(f"{run.title()}: hosts have different numbers of ranks")
        hosts = ",".join(f"n{number}:{each}" for number in range(1, run.hosts + 1))
        pinned = ["sh", "-c", PIN.replace("CORES", str(cores)), "pin"] if run.ranks <= cores else []
        return self.cluster.command("n1", [*self.launcher, *run.placing(self, cores), self.host_option, hosts, "-n", str(run.ranks), *pinned,
                                           *run.words(self)])

    def clean_up(self):
        clean_up(self.cluster)


def all_libraries(bin_folder, cluster):
    peer = {library.key: library for library in peers()}
    # The default of libraries that detect few cores: here each host counts all cores as its own.
    patient = ["--mca", "mpi_yield_when_idle", "1"]
    zipmpi_patient = ["--env", "ZIPMPI_WAIT_NET_SPINS=0", "--env", "ZIPMPI_WAIT_SPINS=0"]
    return [
        OverHosts(zipmpi_library(bin_folder), cluster, ["--launch-agent", AGENT, "--bind-to", "none"], "--host", zipmpi_patient),
        OverHosts(peer["openmpi"], cluster, [*OPENMPI, *OVER_TCP], "--host", patient),
        OverHosts(peer["openmpi_ucx"], cluster, [*OPENMPI, *OVER_UCX], "--host", patient),
        OverHosts(peer["mpich"], cluster, ["-launcher", "ssh", "-launcher-exec", AGENT, "-iface", DEVICE], "-hosts",
                  settings=(("UCX_NET_DEVICES", DEVICE),)),
    ]
