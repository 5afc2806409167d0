# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts and launch agents of batch systems, hosts that answer late, and installations at other paths. Needs no privileges."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness import EXCHANGE, LOCAL_AGENT, MPIEXEC, Case, environment, main, run, wait_until

# Agents of batch systems, as scripts that start everything on this machine: the host is a word after this option, or the
# first word that is not an option.
AGENTS = {"srun": "-w", "qrsh": "", "blaunch": "", "oarsh": ""}
SRUN = "srun --overlap -N1 -n1 --mpi=none --cpu-bind=none -w '{host}'"

# name: (variables, contents of the file $FILE, hosts with ranks, agent), from the documentation of each system
SAMPLES = {
    "Slurm": ({"SLURM_JOB_NODELIST": "n[08-09],m", "SLURM_TASKS_PER_NODE": "1(x2),2"}, "",
              ["n08 ranks 0", "n09 ranks 1", "m ranks 2-3"], SRUN),
    "Slurm, inside a step": ({"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_TASKS_PER_NODE": "1", "SLURM_JOB_CPUS_PER_NODE": "2(x2)"}, "",
                             ["n1 ranks 0-1", "n2 ranks 2-3"], SRUN),
    "PBS": ({"PBS_NODEFILE": "$FILE"}, "n1\nn1\nn2\nn2\n", ["n1 ranks 0-1", "n2 ranks 2-3"], None),
    "SGE": ({"PE_HOSTFILE": "$FILE"}, "n1 3 all.q@n1 UNDEFINED\nn2 1 all.q@n2 UNDEFINED\n",
                    ["n1 ranks 0-2", "n2 ranks 3"], "qrsh -inherit -V"),
    "SGE, agent of the installation": (
        {"PE_HOSTFILE": "$FILE", "SGE_ROOT": "$DIR/sge", "ARC": "lx-amd64"}, "n1 1 all.q@n1 UNDEFINED\nn2 1 all.q@n2 UNDEFINED\n",
        ["n1 ranks 0", "n2 ranks 1"], "$DIR/sge/bin/lx-amd64/qrsh -inherit -V"),
    "LSF, file": ({"LSB_DJOB_HOSTFILE": "$FILE", "LSB_MCPU_HOSTS": "other 9"}, "hostA\nhostA\nhostB\n",
                  ["hostA ranks 0-1", "hostB ranks 2"], "blaunch"),
    "LSF, variable": ({"LSB_MCPU_HOSTS": "hostA 2 hostB 1"}, "", ["hostA ranks 0-1", "hostB ranks 2"], "blaunch"),
    "OAR": ({"OAR_NODEFILE": "$FILE"}, "grid-1.site\ngrid-1.site\ngrid-2.site\n", ["grid-1.site ranks 0-1", "grid-2.site ranks 2"], "oarsh"),
    "MPI operator, Open MPI": (
        {"K_MPI_JOB_ROLE": "launcher", "OMPI_MCA_orte_default_hostfile": "$FILE", "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
         "OMPI_MCA_orte_keep_fqdn_hostnames": "true", "OMPI_MCA_orte_set_default_slots": "2"},
        "pi-worker-0.pi.default.svc slots=2\npi-worker-1.pi.default.svc slots=2\n",
        ["pi-worker-0.pi.default.svc ranks 0-1", "pi-worker-1.pi.default.svc ranks 2-3"],
        "ssh -x -T -o BatchMode=yes -o ConnectionAttempts=10"),
    "MPI operator, MPICH": (
        {"K_MPI_JOB_ROLE": "launcher", "HYDRA_HOST_FILE": "$FILE", "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10"},
        "pi-worker-0.pi.default.svc:2\npi-worker-1.pi.default.svc:2\n",
        ["pi-worker-0.pi.default.svc ranks 0-1", "pi-worker-1.pi.default.svc ranks 2-3"],
        "ssh -x -T -o BatchMode=yes -o ConnectionAttempts=10"),
    "MPI operator, Intel MPI": (
        {"K_MPI_JOB_ROLE": "launcher", "I_MPI_HYDRA_HOST_FILE": "$FILE",
         "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10", "I_MPI_PERHOST": "2"},
        "pi-worker-0.pi.default.svc:2\npi-worker-1.pi.default.svc:2\n",
        ["pi-worker-0.pi.default.svc ranks 0-1", "pi-worker-1.pi.default.svc ranks 2-3"],
        "ssh -x -T -o BatchMode=yes -o ConnectionAttempts=10"),
}


def write_script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


class Temporary(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="allocation-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)


class Allocations(Temporary):
    def setUp(self):
        super().setUp()
        for name, option in AGENTS.items():
            for place in ("bin", "sge/bin/lx-amd64"):
                skip = 'while [ "$1" != -w ]; do shift; done; shift' if option else 'while [ "${1#-}" != "$1" ]; do shift; done'
                write_script(self.path(f"{place}/{name}"), f'echo "$0 $*" >>{self.folder}/log\n{skip}; exec {LOCAL_AGENT} "$@"\n')

    def run_in(self, sample, *args):
        """In the allocation, with the agents of all batch systems in PATH."""
        variables, text, _, _ = SAMPLES[sample]
        file = self.write("hosts", text)
        env = {k: v.replace("$FILE", file).replace("$DIR", self.folder) for k, v in variables.items()}
        env["PATH"] = self.path("bin") + ":" + os.environ["PATH"]
        return run(*args, env=env)

    def test_documented_samples(self):
        for name, (_, _, hosts, agent) in SAMPLES.items():
            with self.subTest(name):
                r = self.run_in(name, "--dry-run", "true")
                self.quiet(r)
                lines = [line.replace(self.folder, "$DIR") for line in r.out.splitlines()]
                self.assertEqual([line[5:] for line in lines if line.startswith("host ")], hosts)
                self.assertEqual([line[6:] for line in lines if line.startswith("agent ")], [agent] if agent else [])

    def test_daemons_are_started_by_the_agent_of_the_batch_system(self):
        for name, agent in (("Slurm", "srun"), ("SGE", "qrsh"), ("LSF, variable", "blaunch"), ("OAR", "oarsh")):
            with self.subTest(name):
                hosts = len(SAMPLES[name][2])
                r = self.run_in(name, "sh", "-c", "echo $ZIPMPI_NODE_INDEX")
                self.quiet(r)
                self.assertEqual(len(set(r.out.split())), hosts, r)
                with open(self.path("log")) as f:
                    self.assertEqual(f.read().count(f"/bin/{agent} "), hosts)
                os.remove(self.path("log"))

    def test_verbose_names_the_agent(self):
        r = self.run_in("Slurm", "-v", "true")
        self.assertEqual(r.code, 0, r)
        self.assertIn("agent " + SRUN, r.err)

    def test_hosts_outside_the_allocation_are_reached_by_ssh(self):
        r = self.run_in("Slurm", "--dry-run", "--host", "n08,elsewhere", "true")
        self.quiet(r)
        self.assertNotIn("agent", r.out)
        self.assertIn("agent " + SRUN, self.run_in("Slurm", "--dry-run", "--host", "n08,m", "true").out)

    def test_missing_agent_is_replaced_by_ssh(self):
        shutil.rmtree(self.path("bin"))
        self.assertNotIn("agent", self.run_in("OAR", "--dry-run", "true").out)


class LateHosts(Temporary):
    """An agent like ssh to a host whose sshd is not up yet."""

    def late(self, seconds, *args, host_wait=30, status=255):
        ready = self.path("ready")
        self.end = time.time() + seconds
        self.write("ready", str(self.end))
        write_script(self.path("agent"), f'if [ "$1" = late ] && [ $(date +%s) -lt $(cut -d. -f1 {ready}) ]; then\n'
                     f'    echo "ssh: connect to host $1 port 22: Connection refused" >&2; exit {status}\nfi\n'
                     f'exec {LOCAL_AGENT} "$@"\n')
        return run("--launch-agent", self.path("agent"), *args, env={"ZIPMPI_LAUNCH_HOST_WAIT": str(host_wait)})

    def test_host_that_answers_late(self):
        r = self.late(3, "-n", 2, "--host", "early,late", EXCHANGE)
        self.assertEqual(r.code, 0, r)
        self.assertEqual(len(r.out.splitlines()), 2, r)
        self.assertEqual(r.err, "mpiexec: waiting up to 30 s for host late: ssh: connect to host late port 22: Connection refused\n")

    def test_late_host_below_another_daemon(self):
        r = self.late(2, "-n", 3, "--launch-fanout", 1, "--host", "early,next,late", EXCHANGE)
        self.assertEqual(r.code, 0, r)
        self.assertEqual(r.err.count("waiting up to 30 s for host late"), 1, r)

    def test_the_wait_is_limited(self):
        r = self.late(60, "-n", 2, "--host", "early,late", EXCHANGE, host_wait=2)
        self.assertEqual(r.code, 1, r)
        self.assertIn("the daemon of host late could not be started", r.err)
        self.assertIn("Connection refused", r.err)
        self.assertLess(r.seconds, 10)

    def test_no_wait_if_the_command_failed(self):
        r = self.late(60, "-n", 2, "--host", "early,late", EXCHANGE, status=3)
        self.assertEqual(r.code, 1, r)
        self.assertNotIn("waiting", r.err)
        self.assertLess(r.seconds, 5)

    def test_interrupt_ends_the_wait(self):
        write_script(self.path("agent"), f'[ "$1" = late ] && exit 255\nexec {LOCAL_AGENT} "$@"\n')
        p = subprocess.Popen([MPIEXEC, "-n", "2", "--host", "early,late", "--launch-agent", self.path("agent"), "sleep", "60"],
                             stderr=subprocess.PIPE, text=True, env=environment())
        self.addCleanup(p.stderr.close)
        self.assertIn("waiting", p.stderr.readline())
        begin = time.monotonic()
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(20), 130)
        self.assertLess(time.monotonic() - begin, 8)


class OtherPaths(Temporary):
    """ZipMPI at another path on the other hosts."""

    def setUp(self):
        super().setUp()
        build = os.path.dirname(os.path.dirname(MPIEXEC))
        os.makedirs(self.path("opt/bin"))
        shutil.copy(os.path.join(build, "bin/zipmpi-noded"), self.path("opt/bin/zipmpi-noded"))
        os.symlink(os.path.join(build, "lib"), self.path("opt/lib"))

    def check(self, *args):
        r = run("-n", 2, "--host", "a,b", *args, "sh", "-c", 'echo "$LD_LIBRARY_PATH"')
        self.quiet(r)
        self.assertEqual([line.split(":")[0] for line in r.out.splitlines()], [self.path("opt/lib")] * 2, r)

    def test_prefix(self):
        self.check("--prefix", self.path("opt"), "--launch-agent", LOCAL_AGENT)

    def test_daemon_in_path_of_the_host(self):
        write_script(self.path("agent"), f'shift\n[ "$1" = zipmpi-noded ] || exec sh -c "/nowhere$1"\nPATH={self.path("opt/bin")}:$PATH exec sh -c "$*"\n')
        self.check("--launch-agent", self.path("agent"))

    def test_daemon_nowhere(self):
        r = run("-n", 2, "--host", "a,b", "--prefix", "/nowhere", "--launch-agent", LOCAL_AGENT, "true")
        self.assertEqual(r.code, 1, r)
        self.assertIn("--prefix", r.err)
        self.assertLess(r.seconds, 5)


if __name__ == "__main__":
    main()
