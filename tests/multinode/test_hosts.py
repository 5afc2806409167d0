# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over hosts made of namespaces."""
import os

from harness import EXCHANGE, MPIEXEC, SECONDS, ClusterCase, main


class Hosts(ClusterCase):
    def test_values_cross_hosts(self):
        for width in (1, 2, 32):
            r = self.mpiexec("-n", 8, "--launch-fanout", width, "--host", self.all_hosts(2), EXCHANGE)
            self.quiet(r)
            for i in range(8):
                self.assertIn(f"rank {i} of 8 on node {i // 2}, host n{i // 2 + 1}, local index {i % 2}\n", r.out)
        self.nothing_left()

    def test_no_listener_on_all_addresses(self):
        seen = os.path.join(self.cluster.folder, "listeners")  # while an agent runs, the process that started it listens
        agent = f"sh -c 'ss -Htln >> {seen}; exec {self.cluster.agent} \"$@\"' agent"
        r = self.cluster.run("n1", [MPIEXEC, "-n", 4, "--launch-agent", agent, "--launch-fanout", 1, "--host", self.all_hosts(),
                                    "ss", "-Htln"], capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        with open(seen) as f:
            listeners = f.read().splitlines()
        self.assertGreaterEqual(len(listeners), 3, "no listener while daemons are started")
        for line in listeners + r.stdout.splitlines():
            self.assertNotRegex(line.split()[3], r"^(0\.0\.0\.0|\[::\]|\*):", line)

    def test_files_and_names_are_private(self):
        r = self.mpiexec("-n", 4, "--pmix", "no", "--host", self.all_hosts(), "sh", "-c", "touch /tmp/here; hostname; ls /tmp; ls /dev/shm | grep -v ^zipmpi-cpus; true")
        self.quiet(r)
        self.assertEqual(sorted(r.out.split()), ["here"] * 4 + ["n1", "n2", "n3", "n4"])

    def test_environment_of_other_hosts(self):
        env = {"AWS_SECRET_ACCESS_KEY": "hush", "MY_GRID": "1", "OMP_NUM_THREADS": "3"}
        show = ("sh", "-c", "echo $AWS_SECRET_ACCESS_KEY,$MY_GRID,$OMP_NUM_THREADS,$SET")
        for options, more, seen in (((), {}, ",,3,"), (("-x", "MY_GRID", "--genv", "SET=2"), {}, ",1,3,2"), (("--genvall",), {}, "hush,1,3,"),
                                    ((), {"ZIPMPI_LAUNCH_FORWARD": "MY_*"}, ",1,3,"), (("--genvexcl", "MY_GRID"), {}, "hush,,3,")):
            r = self.mpiexec("-n", 2, *options, "--host", "n1,n2", *show, env={**env, **more})
            self.quiet(r)
            self.assertEqual(r.out.split(), [seen] * 2, options)
        r = self.mpiexec("-v", "-n", 2, "--host", "n1,n2", "true", env=env)
        self.assertRegex(r.err, "variables not sent to other hosts:.* AWS_SECRET_ACCESS_KEY.* MY_GRID.*-x NAME")
        r = self.mpiexec("-n", 2, "--host", "n1:2", *show, env=env)  # on this host only
        self.assertEqual(r.out.split(), ["hush,1,3,"] * 2)

    # Each host has a separate registry of claims: only mpiexec can detect that the hosts are one machine.
    # A rank that ends returns its cores, so each waits until all have printed theirs.
    WAIT = """for i in $(seq 300); do
        mask=$(grep Cpus_allowed_list /proc/self/status | cut -f2)
        [ "$(echo $mask | grep -c [-,])" = $0 ] && break
        sleep 0.05
    done; echo $mask; touch $1/$PMI_RANK
    for i in $(seq 300); do [ $(ls $1 | wc -l) = $PMI_SIZE ] && break; sleep 0.05; done"""

    def test_hosts_on_one_machine_divide_its_cores(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) != 2:
            self.skipTest("not two CPUs")
        for ranks, wide in ((2, 0), (4, 1)):
            printed = os.path.join(self.cluster.folder, f"printed{ranks}")
            os.mkdir(printed)
            r = self.mpiexec("-n", ranks, "--env", "ZIPMPI_LAUNCH_AVOID_BUSY_CPUS=no", "--host", f"n1:{ranks // 2},n2:{ranks // 2}",
                             "bash", "-c", self.WAIT, wide, printed)
            self.quiet(r)
            self.assertEqual(sorted(r.out.split()), [f"{cpus[0]}-{cpus[1]}"] * 4 if wide else [str(cpu) for cpu in cpus], r)
        self.nothing_left()

    def test_program_of_another_mpi(self):
        program = os.path.join(os.environ.get("TEST_HELPERS", ""), "mpi_ring_openmpi")
        if not os.path.exists(program):
            self.skipTest("mpi_ring_openmpi was not built")
        for width in (1, 32):
            r = self.mpiexec("-n", 6, "--launch-fanout", width, "--host", "n1:2,n2:2,n3:2", program)
            self.assertEqual(r.code, 0, r)
            self.assertEqual(r.out.count("sum 15"), 6, r)
        self.nothing_left()


if __name__ == "__main__":
    main()
