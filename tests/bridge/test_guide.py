# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""docs/guide/multi_cluster.md as a reader follows it: the program, the commands, their output."""
import os
import re
import subprocess
import tempfile

from harness import HERE, MPIEXEC, Case, MultiCluster, main

ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
BIN = os.path.dirname(MPIEXEC)


class Guide(Case):
    @classmethod
    def setUpClass(cls):
        with MultiCluster("z1"):  # skips the tests if it cannot run
            pass
        with open(os.path.join(ROOT, "docs/guide/multi_cluster.md")) as f:
            section = re.search(r"## Try it.*?(?=\n## )", f.read(), re.S).group(0)
        cls.blocks = re.findall(r"```(\w+)\n(.*?)```", section, re.S)

    def block(self, kind, number=0):
        return [text for k, text in self.blocks if k == kind][number]

    def test_commands_print_the_documented_output(self):
        commands = "".join(text for kind, text in self.blocks if kind == "sh").splitlines()
        self.assertGreaterEqual(len(commands), 6)
        expected = self.block("text").splitlines()
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # not in /tmp: the hosts have their own
            os.symlink(os.path.join(ROOT, "tests"), os.path.join(folder, "tests"))
            with open(os.path.join(folder, "hello.c"), "w") as f:
                f.write(self.block("c"))
            for command in commands:
                with self.subTest(command=command):
                    self.check(command, folder, expected)

    def check(self, command, folder, expected):
        env = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"])
        p = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stderr), (0, ""), p.stdout)
        if "./hello" in command.split("-n 4")[-1]:
            self.assertEqual(sorted(line for line in p.stdout.splitlines() if line.startswith("rank ")), expected)
        if "--links" in command:
            self.assertEqual(p.stdout.count("through gateway"), 4, p.stdout)
            self.assertIn("gateway 1 on g2: b", p.stdout)
        if "--show-placement" in command:
            self.assertIn("gateway 0, z, joins a and b", p.stdout)


if __name__ == "__main__":
    main()
