# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs with net.engine=ofi, and that other jobs do not load libfabric."""
import glob
import os
import re
import signal
import time

from harness import MPIEXEC, ClusterCase, main

FOLDER = os.environ["TEST_MPI_FOLDER"]
MESSAGE_AUDIT = os.path.join(os.path.dirname(os.environ["CLUSTER_TOOL"]), "message_audit")
ZIPMPI = os.path.join(os.path.dirname(MPIEXEC), "zipmpi")
PROVIDERS = ("net", "tcp;ofi_rxm")
SHORT = {"ZIPMPI_NET_EAGER_LIMIT": "64", "ZIPMPI_NET_NONCONTIG_EAGER_LIMIT": "64"}
RUNS = [("bursts", (), {}), ("cancel", (), {}), ("datatypes", (), {}), ("collectives", (), {}), ("partitioned", (), {}), ("spawn", (), {}),
        ("random_messages", ("seed=1", "rounds=20"), {}),
        ("random_messages", ("seed=2", "rounds=20"), SHORT),
        ("random_messages", ("seed=3", "rounds=10", "threads=3"), {}),
        ("random_collectives", ("seed=4", "rounds=20"), {}),
        ("random_windows", ("seed=5", "rounds=20"), {})]


class Libfabric(ClusterCase):
    HOSTS = 2

    def job(self, program, *arguments, **settings):
        words = [f"{name}={value}" for name, value in settings.items()]
        return self.mpiexec("-n", "4", "--host", self.all_hosts(2), "env", *words, os.path.join(FOLDER, program), *arguments)

    def programs(self, runs, **settings):
        for program, arguments, more in runs:
            with self.subTest(program=program, arguments=arguments, **more):
                r = self.job(program, *arguments, ZIPMPI_NET_ENGINE="ofi", **settings, **more)
                self.quiet(r)
                self.assertIn(f"{program}: ok", r.out)

    def test_programs(self):
        self.programs(RUNS)
        self.nothing_left()

    def test_providers(self):
        for provider in PROVIDERS:
            self.programs(RUNS[6:8], ZIPMPI_NET_OFI_PROVIDER=provider)

    def audit(self, provider, *options, seconds):
        """A job of message_audit that has begun: ranks check order and contents of messages of many lengths."""
        p = self.begin(*options, "--timeout", "35", "-n", "4", "--host", self.all_hosts(2), "env", "ZIPMPI_NET_ENGINE=ofi",
                       "ZIPMPI_NET_OFI_PROVIDER=" + provider, MESSAGE_AUDIT, "5", str(seconds), *(["keep-going"] if options else []))
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        for _ in range(4):
            line = p.stdout.readline()
            self.assertEqual(line, "here\n", "" if line else p.stderr.read())
        return p

    def test_messages_keep_their_order(self):
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                p = self.audit(provider, seconds=2)
                out, err = p.communicate(timeout=30)
                self.assertEqual((p.returncode, err, out.count("over")), (0, "", 4), out)

    def test_killed_rank(self):
        for provider in PROVIDERS:
            for options, code, survivors in (((), 128 + 9, 0), (("--keep-going",), 0, 3)):
                with self.subTest(provider=provider, options=options):
                    p = self.audit(provider, *options, seconds=3 if options else 60)
                    time.sleep(0.3)
                    os.kill(self.cluster.named("n2", "message_audit")[0], signal.SIGKILL)
                    out, err = p.communicate(timeout=30)
                    self.assertEqual((p.returncode, out.count("over")), (code, survivors), out + err)
                    self.assertIn("host n2", err)
                    self.nothing_left()

    def test_unknown_provider_is_reported(self):
        r = self.job("cancel", ZIPMPI_NET_ENGINE="ofi", ZIPMPI_NET_OFI_PROVIDER="none_such")
        self.assertNotEqual(r.code, 0, r)
        self.assertIn("libfabric has no provider none_such for the devices", r.err)

    def loads_libfabric(self, name, engine):
        """Whether the ranks of a job do so: all or none of them."""
        log = os.path.join(self.cluster.folder, "libraries." + name)
        self.quiet(self.job("cancel", ZIPMPI_NET_ENGINE=engine, LD_DEBUG="files", LD_DEBUG_OUTPUT=log))
        texts = []
        for path in glob.glob(log + ".*"):  # ranks on two hosts may have the same process id
            with open(path) as f:
                texts.append(f.read())
        loaded = {"libfabric.so" in text or "zipmpi_ofi.so" in text for text in texts if "libmpi_abi.so" in text}
        self.assertEqual(len(loaded), 1, loaded)
        return loaded.pop()

    def test_only_this_engine_loads_libfabric(self):
        for engine, loaded in (("ofi", True), ("ucx", False), ("tcp", False), ("auto", False)):
            self.assertEqual(self.loads_libfabric(engine, engine), loaded, engine)

    def engine(self, **settings):
        """The engine of a job, the same on both hosts."""
        words = [f"{name}={value}" for name, value in settings.items()]
        r = self.mpiexec("-n", "4", "--host", self.all_hosts(2), "env", *words, ZIPMPI, "info", "--network")
        self.quiet(r)
        engines = re.findall(r"^  engine  (\w+)$", r.out, re.MULTILINE)
        self.assertEqual((len(engines), len(set(engines))), (4, 1), r)
        return engines[0]

    def rename(self, host, old, new):
        self.cluster.run(host, ["sh", "-ec", f"ip link set {old} down; ip link set {old} name {new}; ip link set {new} up"],
                         check=True)

    def show_device(self, host, name):
        """Lets the host show a device of Slingshot, until the end of the test."""
        script = f"mount -t tmpfs none /sys/class; mkdir -p /sys/class/cxi/{name}"
        self.cluster.run(host, ["sh", "-ec", script], check=True)
        self.addCleanup(self.cluster.run, host, ["umount", "/sys/class"])

    def test_auto_needs_a_device_that_libfabric_drives_on_all_hosts(self):
        # A domain of libfabric belongs to cxi0 if its name begins with "cxi0-"; the provider over TCP names domains by interfaces.
        for host in ("n1", "n2"):
            self.rename(host, "eth0", "cxi0-0")
            self.addCleanup(self.rename, host, "cxi0-0", "eth0")
        self.show_device("n1", "cxi0")
        self.assertEqual(self.engine(), "tcp", "only n1 shows a device")
        self.show_device("n2", "cxi0")
        self.assertEqual(self.engine(), "ofi")
        self.assertEqual(self.engine(ZIPMPI_NET_SEAL="auth"), "tcp", "libfabric cannot seal messages")
        self.assertEqual(self.engine(ZIPMPI_NET_OFI_PROVIDER="none_such"), "tcp", "no provider")

    def test_auto_ignores_devices_without_a_provider(self):
        for host in ("n1", "n2"):
            self.show_device(host, "cxi0")
        self.assertEqual(self.engine(), "tcp")

    def doctor(self, **settings):
        words = [f"{name}={value}" for name, value in settings.items()]
        return self.cluster.run("n1", ["env", *words, ZIPMPI, "doctor"], capture_output=True, text=True).stdout

    def test_doctor_names_devices_that_are_not_used(self):
        finding = "libfabric is not used for cxi0"
        self.assertNotIn(finding, self.doctor())
        self.show_device("n1", "cxi0")
        self.assertIn(finding, self.doctor())
        self.rename("n1", "eth0", "cxi0-0")
        self.addCleanup(self.rename, "n1", "cxi0-0", "eth0")
        self.assertNotIn(finding, self.doctor())
        self.assertIn(finding, self.doctor(ZIPMPI_NET_OFI_PROVIDER="none_such"))

    def test_sealed_messages_are_refused(self):
        r = self.job("cancel", ZIPMPI_NET_ENGINE="ofi", ZIPMPI_NET_SEAL="auth")
        self.assertNotEqual(r.code, 0, r)
        self.assertIn("net.seal needs the engine tcp, and net.engine is ofi", r.err)


if __name__ == "__main__":
    main()
