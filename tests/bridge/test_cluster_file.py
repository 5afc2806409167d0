# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Invalid cluster files: the message has what, where, why and fix. Needs no privileges."""
import os
import subprocess
import tempfile

from harness import MPIEXEC, Case, main

A = '[[cluster]]\nname = "a"\nhosts = ["a1"]\n'
B = '[[cluster]]\nname = "b"\nhosts = ["b1"]\n'
Z = '[[gateway]]\nhost = "z"\nclusters = ["a", "b"]\n'
GA = '[[gateway]]\nhost = "ga"\ncluster = "a"\n'
WRONG = [  # text, line, parts of the message
    ('[[cluster]\n', 1, ["is not valid TOML"]),
    ("", None, ["there is no cluster", "[[cluster]]"]),
    (A + B, None, ["several clusters and no gateway"]),
    (A + A + Z, 4, ["two clusters are named a"]),
    (A + 'agnt = "x"\n', 4, ["unknown key 'agnt'", "did you mean agent?"]),
    ('[[cluster]]\nname = "a"\n', 1, ["needs either hosts or a hostfile"]),
    ('[[cluster]]\nname = "a"\nhosts = ["-x"]\n', 3, ["'-x' is not a host"]),
    ('[[cluster]]\nname = "a"\nhosts = 7\n', 3, ["hosts is not a list of strings"]),
    ('[[cluster]]\nname = "a"\nhostfile = "nowhere"\n', None, ["the host file cannot be read", "nowhere"]),
    (A + B + '[[gateway]]\nhost = "z"\nclusters = ["a", "c"]\n', 9, ["no cluster named 'c'"]),
    (A + B + '[[gateway]]\nhost = "a1"\nclusters = ["a", "b"]\n', 7, ["also listed in the hosts of cluster a", "slots = N"]),
    (A + B + Z + 'slots = -1\n', 10, ["slots is not a number"]),
    (A + 'speed = 0\n', 4, ["speed is not a relative speed"]),
    (A + B + Z + 'speed = "2"\n', 10, ["speed is not a relative speed"]),
    (A + B + Z + 'devices = "eth0"\n', 10, ["does not name the cluster that they belong to"]),
    (A + B + GA, None, ["from cluster a to b", "[[gateway]]"]),
    (A + B + GA + 'link = { to = "gb", listen = "192.0.2.1:0" }\n', 10, ["no gateway on host 'gb'"]),
    (A + B + GA + 'link = { to = "gb", listen = "gatehouse:0" }\n', 10, ["not a numeric address"]),
]


class ClusterFile(Case):
    def mpiexec(self, text, *args):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "grid.toml")
            with open(path, "w") as f:
                f.write(text)
            p = subprocess.run([MPIEXEC, "--clusters", path, *args, "true"], capture_output=True, text=True, timeout=20)
            return p.returncode, p.stderr

    def test_invalid_files(self):
        for text, line, parts in WRONG:
            with self.subTest(text=text):
                code, err = self.mpiexec(text)
                self.assertEqual(code, 2, err)
                for part in parts + [f"grid.toml, line {line}\n"] * (line is not None):
                    self.assertIn(part, err)
                self.assertEqual(err.count("\n"), 4, err)

    def test_conflict_with_other_host_lists(self):
        code, err = self.mpiexec(A, "--host", "x")
        self.assertEqual(code, 2)
        self.assertIn("--clusters cannot be combined with --host", err)

    def test_missing_file(self):
        p = subprocess.run([MPIEXEC, "--clusters", "/nowhere.toml", "true"], capture_output=True, text=True, timeout=20)
        self.assertEqual(p.returncode, 2)
        self.assertIn("the cluster file cannot be read", p.stderr)


if __name__ == "__main__":
    main()
