# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of grids that are wrong: the message says what, where, and what to do. Needs no rights."""
import os
import subprocess
import tempfile

from harness import MPIEXEC, Case, main

A = '[[cluster]]\nname = "a"\nhosts = ["a1"]\n'
B = '[[cluster]]\nname = "b"\nhosts = ["b1"]\n'
Z = '[[gateway]]\nhost = "z"\nclusters = ["a", "b"]\n'
GA = '[[gateway]]\nhost = "ga"\ncluster = "a"\n'
WRONG = [  # text, line, parts of the message
    ('[[cluster]\n', 1, ["is not TOML"]),
    ("", None, ["it has no clusters", "[[cluster]]"]),
    (A + B, None, ["several clusters and no gateways"]),
    (A + A + Z, 4, ["two clusters are named a"]),
    (A + 'agnt = "x"\n', 4, ["unknown key 'agnt'", "did you mean agent?"]),
    ('[[cluster]]\nname = "a"\n', 1, ["needs either hosts or a hostfile"]),
    ('[[cluster]]\nname = "a"\nhosts = ["-x"]\n', 3, ["'-x' is not a host"]),
    ('[[cluster]]\nname = "a"\nhosts = 7\n', 3, ["hosts is not a list of texts"]),
    ('[[cluster]]\nname = "a"\nhostfile = "nowhere"\n', None, ["the file of hosts cannot be read", "nowhere"]),
    (A + B + '[[gateway]]\nhost = "z"\nclusters = ["a", "c"]\n', 9, ["no cluster named 'c'"]),
    (A + B + '[[gateway]]\nhost = "a1"\nclusters = ["a", "b"]\n', 7, ["also listed in the hosts of cluster a", "slots = N"]),
    (A + B + Z + 'slots = -1\n', 10, ["slots is not a number"]),
    (A + B + Z + 'devices = "eth0"\n', 10, ["which cluster they lead to"]),
    (A + B + GA, None, ["from cluster a to b", "[[gateway]]"]),
    (A + B + GA + 'link = { to = "gb", listen = "192.0.2.1:0" }\n', 10, ["no gateway on host 'gb'"]),
    (A + B + GA + 'link = { to = "gb", listen = "gatehouse:0" }\n', 10, ["not a numeric address"]),
]


class Description(Case):
    def mpiexec(self, text, *args):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "grid.toml")
            with open(path, "w") as f:
                f.write(text)
            p = subprocess.run([MPIEXEC, "--grid", path, *args, "true"], capture_output=True, text=True, timeout=20)
            return p.returncode, p.stderr

    def test_wrong_ones(self):
        for text, line, parts in WRONG:
            with self.subTest(text=text):
                code, err = self.mpiexec(text)
                self.assertEqual(code, 2, err)
                for part in parts + [f"grid.toml, line {line}\n"] * (line is not None):
                    self.assertIn(part, err)
                self.assertEqual(err.count("\n"), 4, err)

    def test_not_with_other_lists_of_hosts(self):
        code, err = self.mpiexec(A, "--host", "x")
        self.assertEqual(code, 2)
        self.assertIn("--grid does not go with --host", err)

    def test_one_that_is_not_there(self):
        p = subprocess.run([MPIEXEC, "--grid", "/nowhere.toml", "true"], capture_output=True, text=True, timeout=20)
        self.assertEqual(p.returncode, 2)
        self.assertIn("the description of the grid cannot be read", p.stderr)


if __name__ == "__main__":
    main()
