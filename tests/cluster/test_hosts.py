# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over hosts that are namespaces."""
import os

from harness import EXCHANGE, ClusterCase, main


class Hosts(ClusterCase):
    def test_values_cross_hosts(self):
        for width in (1, 2, 32):
            r = self.mpiexec("-n", 8, "--launch-width", width, "--host", self.all_hosts(2), EXCHANGE)
            self.quiet(r)
            for i in range(8):
                self.assertIn(f"rank {i} of 8 on node {i // 2}, host n{i // 2 + 1}, 2 local ranks\n", r.out)
        self.nothing_left()

    def test_nobody_listens_on_all_addresses(self):
        r = self.mpiexec("-n", 4, "--launch-width", 1, "--host", self.all_hosts(), "sh", "-c", "sleep 0.2; ss -Htln")
        self.assertEqual(r.code, 0, r)
        self.assertNotIn("0.0.0.0:", r.out.replace("0.0.0.0:*", ""))
        self.assertNotIn("[::]:", r.out.replace("[::]:*", ""))

    def test_files_and_names_are_private(self):
        r = self.mpiexec("-n", 4, "--pmix", "no", "--host", self.all_hosts(), "sh", "-c", "touch /tmp/here; hostname; ls /tmp; ls /dev/shm")
        self.quiet(r)
        self.assertEqual(sorted(r.out.split()), ["here"] * 4 + ["n1", "n2", "n3", "n4"])

    def test_a_program_of_another_mpi(self):
        program = os.path.join(os.environ.get("TEST_HELPERS", ""), "mpi_ring_openmpi")
        if not os.path.exists(program):
            self.skipTest("mpi_ring_openmpi was not built")
        for width in (1, 32):
            r = self.mpiexec("-n", 6, "--launch-width", width, "--host", "n1:2,n2:2,n3:2", program)
            self.assertEqual(r.code, 0, r)
            self.assertEqual(r.out.count("sum 15"), 6, r)
        self.nothing_left()


if __name__ == "__main__":
    main()
