# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""zipmpi doctor with one injected problem at a time: exactly that one is reported, with its fix."""
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.environ["TEST_BIN"]
LIB = os.path.join(os.path.dirname(BIN), "lib")
DENY_SYSCALL = os.environ["TEST_DENY_SYSCALL"]
CALLS = {"x86_64": {"process_vm_readv": 310, "memfd_create": 319}, "aarch64": {"process_vm_readv": 270, "memfd_create": 279}}
ENVIRONMENT = {"PATH": BIN + ":/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent"}
KIB = 1024


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="doctor")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_doctor(self, *arguments, before=(), binary=BIN + "/zipmpi", prepare=None, **variables):
        env = {k: v for k, v in dict(ENVIRONMENT, **variables).items() if v is not None}
        p = subprocess.run([*before, binary, "doctor", "--json", *arguments], env=env, capture_output=True, text=True,
                           timeout=60, preexec_fn=prepare)
        if p.returncode == 77:
            self.skipTest(p.stderr)
        self.assertEqual(p.stderr, "", p.stdout)
        report = json.loads(p.stdout)
        found = [f for host in report["hosts"] for f in host["findings"] if not f["harmless"]]
        self.assertEqual(p.returncode, 1 if found else 0)
        self.assertEqual(report["to_repair"], len(found))
        for f in found:
            self.assertTrue(f["what"] and f["why"] and f["fix"], f)
        return found

    def finds(self, name, remedy, *arguments, count=1, **how):
        found = self.run_doctor(*arguments, **how)
        self.assertEqual([f["id"] for f in found], [name] * count, found)
        self.assertIn(remedy, found[0]["fix"])
        return found[0]

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def install(self):
        """A copy of the installation; links would be resolved."""
        for part in ("bin", "lib/zipmpi"):
            os.makedirs(os.path.join(self.folder, part))
        for name in ("zipmpi", "zipmpi-noded", "mpiexec", "mpicc"):
            shutil.copy(os.path.join(BIN, name), os.path.join(self.folder, "bin"))
        for source in (os.path.join(LIB, "zipmpi"), BIN):
            for name in os.listdir(source):
                if name.endswith(".so"):
                    shutil.copy(os.path.join(source, name), os.path.join(self.folder, "lib/zipmpi"))
        own = os.path.join(self.folder, "bin")
        return {"binary": own + "/zipmpi", "PATH": own + ":/usr/bin:/bin"}


class Clean(Doctor):
    def test_no_findings(self):
        self.assertEqual(self.run_doctor(), [])

    def test_no_findings_in_a_copy(self):
        self.assertEqual(self.run_doctor(**self.install()), [])

    def test_no_findings_on_a_remote_host(self):
        agent = self.script("agent", 'shift; exec "$@"')
        self.assertEqual(self.run_doctor("--hosts", "a,b", "--launch-agent", agent), [])

    def test_text_without_findings(self):
        p = subprocess.run([BIN + "/zipmpi", "doctor"], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("no problem found", p.stdout)

    def test_text_has_all_parts(self):
        p = subprocess.run([BIN + "/zipmpi", "doctor"], env=dict(ENVIRONMENT, TMPDIR="/nonexistent"), capture_output=True,
                           text=True, timeout=60)
        self.assertEqual((p.returncode, p.stderr), (1, ""))
        self.assertRegex(p.stdout, r"(?s)1 finding\n.*\[scratch\]\n    why: .*\n    fix: .*export TMPDIR=/var/tmp")


class Kernel(Doctor):
    def deny(self, call, error):
        number = CALLS.get(platform.machine(), {}).get(call)
        if number is None:
            self.skipTest("number of the call not known on this machine")
        return [DENY_SYSCALL, str(number), str(error)]

    def test_cma_denied(self):
        self.finds("cma-copy", "--security-opt seccomp=unconfined", before=self.deny("process_vm_readv", 1))

    def test_cma_missing(self):
        self.finds("cma-copy", "process_vm_readv", before=self.deny("process_vm_readv", 38))

    def test_memory_files_denied(self):
        self.finds("memory-file", "memfd_create", before=self.deny("memfd_create", 38))


class Limits(Doctor):
    def limit(self, which, value, name, remedy):
        self.finds(name, remedy, prepare=lambda: resource.setrlimit(which, (value, value)))

    def test_open_files(self):
        self.limit(resource.RLIMIT_NOFILE, 200, "open-files", "nofile")

    def test_file_size(self):
        self.limit(resource.RLIMIT_FSIZE, 1 << 30, "file-size", "fsize")

    def test_address_space(self):
        self.limit(resource.RLIMIT_AS, 2 << 30, "address-space", "hard as")

    def test_cpu_time(self):
        self.limit(resource.RLIMIT_CPU, 3600, "cpu-time", "hard cpu")

    def test_soft_limit_may_be_raised(self):
        self.finds("cpu-time", "ulimit -t unlimited",
                   prepare=lambda: resource.setrlimit(resource.RLIMIT_CPU, (3600, resource.RLIM_INFINITY)))

    def test_locked_memory(self):
        self.limit(resource.RLIMIT_MEMLOCK, 16 * KIB, "locked-memory", "ulimit -l unlimited")

    def test_affinity(self):
        if os.cpu_count() < 2:
            self.skipTest("one CPU")
        cpu = min(os.sched_getaffinity(0))
        self.finds("affinity", "taskset", prepare=lambda: os.sched_setaffinity(0, {cpu}))

    def test_scratch(self):
        self.finds("scratch", "export TMPDIR=/var/tmp", TMPDIR="/nonexistent")

    def group(self, controller, file, value):
        base = f"/sys/fs/cgroup/{controller}"
        with open("/proc/self/cgroup") as f:
            groups = f.readlines()
        for line in groups:
            if controller in line.split(":")[1].split(","):
                base += line.strip().split(":", 2)[2]
        group = os.path.join(base, f"doctor{os.getpid()}")
        try:
            os.mkdir(group)
            self.addCleanup(os.rmdir, group)
            with open(os.path.join(group, file), "w") as f:
                f.write(value)
        except OSError as e:
            self.skipTest(f"no control groups of version 1 to write: {e}")

        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w") as f:
                f.write(str(os.getpid()))
        return enter

    def test_group_memory(self):
        self.finds("group-memory", "docker run --memory",
                   prepare=self.group("memory", "memory.limit_in_bytes", str(128 << 20)))

    def test_group_processes(self):
        self.finds("group-processes", "--pids-limit", prepare=self.group("pids", "pids.max", "40"))

    def test_group_cpus(self):
        self.finds("group-cpus", "docker run --cpus", prepare=self.group("cpu", "cpu.cfs_quota_us", "50000"))


class Environment(Doctor):
    def test_no_path(self):
        found = self.run_doctor(PATH=None)
        self.assertEqual([f["id"] for f in found], ["path-mpiexec", "path-mpicc"])
        self.assertIn("export PATH=" + os.path.realpath(BIN), found[0]["fix"])

    def test_another_mpiexec(self):
        self.script("mpiexec", "exit 0\n")
        self.finds("path-mpiexec", "export PATH=", PATH=self.folder + ":" + ENVIRONMENT["PATH"])

    def test_another_mpicc(self):
        self.script("mpicc", "exit 0\n")
        self.finds("path-mpicc", "export PATH=", PATH=self.folder + ":" + ENVIRONMENT["PATH"])

    def test_another_library_in_the_search_path(self):
        open(os.path.join(self.folder, "libmpi.so.40"), "w").close()
        self.finds("library-path", "remove " + self.folder, LD_LIBRARY_PATH=self.folder)

    def test_another_library_preloaded(self):
        library = os.path.join(self.folder, "libmpi.so.12")
        shutil.copy(os.path.join(LIB, "zipmpi/zipmpi_topology.so"), library)  # anything that can be loaded
        self.finds("preload", "unset LD_PRELOAD", LD_PRELOAD=library)

    def test_own_library_is_accepted(self):
        self.assertEqual(self.run_doctor(LD_LIBRARY_PATH=LIB, LD_PRELOAD=LIB + "/libmpi_abi.so.1"), [])

    def test_unreachable_launcher(self):
        self.finds("launcher", "ZipMPI's mpiexec", OMPI_COMM_WORLD_SIZE="4")

    def test_closed_descriptor(self):
        self.finds("pmi-descriptor", "unset PMI_FD", PMI_FD="57", PMI_RANK="0", PMI_SIZE="2")

    def test_unknown_parameter(self):
        self.finds("setting", "did you mean ZIPMPI_SHM_CELL_SIZE", ZIPMPI_SHM_CELL_SISE="1")

    def test_value_out_of_range(self):
        self.finds("setting", "", ZIPMPI_SHM_CELL_SIZE="1")

    def test_missing_settings_file(self):
        self.finds("setting", "", ZIPMPI_CONFIG=self.folder + "/absent")


class Installation(Doctor):
    def test_missing_module(self):
        copy = self.install()
        os.remove(os.path.join(self.folder, "lib/zipmpi/zipmpi_ucx.so"))
        self.finds("module", "libucx0", **copy)

    def test_missing_library(self):
        copy = self.install()
        module = os.path.join(self.folder, "lib/zipmpi/zipmpi_topology.so")
        with open(module, "rb") as f:
            data = f.read()
        self.assertIn(b"libhwloc.so.15", data)
        with open(module, "wb") as f:
            f.write(data.replace(b"libhwloc.so.15", b"libhwloc.so.99"))
        f = self.finds("library", "apt install libhwloc15", **copy)
        self.assertIn("libhwloc.so.99", f["why"])

    def test_no_daemon(self):
        copy = self.install()
        os.remove(os.path.join(self.folder, "bin/zipmpi-noded"))
        self.finds("daemon", "reinstall ZipMPI", **copy)

    def test_old_daemon(self):
        copy = self.install()
        os.remove(os.path.join(self.folder, "bin/zipmpi-noded"))
        self.script("bin/zipmpi-noded", "echo 'zipmpi-noded (ZipMPI) 0.0.9'\n")
        f = self.finds("version", "reinstall ZipMPI", **copy)
        self.assertIn("0.0.9", f["what"])


class Hosts(Doctor):
    def agent(self, name, remedy, text, *more, **how):
        agent = self.script("agent", text)
        return self.finds(name, remedy, "--hosts", "far", "--launch-agent", agent, *more, **how)

    def test_unreachable(self):
        self.agent("host-unreachable", "getent hosts far", "echo 'ssh: connect to host far port 22: No route to host' >&2; exit 255\n")

    def test_ssh_to_unknown_host(self):
        if shutil.which("ssh") is None:
            self.skipTest("no ssh")
        self.finds("host-unreachable", "getent hosts", "--hosts", "no-such-host.invalid")

    def test_password(self):
        self.agent("agent-login", "ssh-copy-id far", "echo 'me@far: Permission denied (publickey,password).' >&2; exit 255\n")

    def test_host_key(self):
        self.agent("agent-host-key", "ssh-keygen -R far", "echo 'Host key verification failed.' >&2; exit 255\n")

    def test_agent_that_prompts(self):
        self.agent("agent-silent", "ssh-copy-id far", "echo 'Password:' >&2; exec sleep 60\n", "--timeout", "0.5")

    def test_no_agent(self):
        self.finds("agent-missing", "--launch-agent", "--hosts", "far", "--launch-agent", "/nonexistent/rsh")

    def test_not_installed_on_remote_host(self):
        self.agent("not-installed", "same version at the same path", 'shift; echo "sh: 1: $1: not found" >&2; exit 127\n')

    def peer(self, change):
        return f'shift; "$@" | sed \'{change}\'\n'

    def test_other_version_on_remote_host(self):
        self.agent("version", "on far", self.peer('s/"zipmpi":"[^"]*"/"zipmpi":"9.9.9"/'))

    def test_old_daemon_on_remote_host(self):
        self.agent("version", "on far", self.peer('s/"daemon":"[^"]*"/"daemon":"0.0.1"/'))

    def test_clock_of_remote_host(self):
        f = self.agent("clock", "systemd-timesyncd", self.peer('s/"clock":[0-9]*/"clock":1000000000/'))
        self.assertIn("behind", f["what"])

    def test_finding_on_remote_host(self):
        self.agent("scratch", "TMPDIR", 'shift; TMPDIR=/nonexistent exec "$@"\n')

    def test_no_network(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
            self.skipTest("no network namespaces")
        agent = self.script("agent", 'shift; "$@" | sed "s/\\"findings\\":.*/\\"findings\\":[]}/"\n')
        self.finds("no-network", "ip link set eth0 up", "--hosts", "far", "--launch-agent", agent,
                   before=["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"])

    def test_loopback_down(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
            self.skipTest("no network namespaces")
        self.finds("loopback", "ip link set lo up", before=["unshare", "-n"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
