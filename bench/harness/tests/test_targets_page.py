# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""docs/performance/targets.md has every target with its limit."""
import pathlib
import re
import tomllib
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2]
PAGE = BENCH.parent / "docs/performance/targets.md"
TABLES = ("harness/targets.toml", "applications/npb.toml", "applications/mini.toml")


def limits():
    for table in TABLES:
        for target in tomllib.loads((BENCH / table).read_text(encoding="utf-8"))["target"]:
            most = "at_most" in target
            yield target["number"], f"at {'most' if most else 'least'} {target['at_most' if most else 'at_least']:g}"


class Page(unittest.TestCase):
    def setUp(self):
        self.rows = [[c.strip() for c in line.strip("|").split("|")] for line in PAGE.read_text(encoding="utf-8").splitlines()
                     if line.startswith("| ")]

    def test_every_target_with_its_limit(self):
        found = {(row[0], row[2]) for row in self.rows}
        self.assertEqual([t for t in limits() if t not in found], [])

    def test_no_other_targets(self):
        known = {number for number, _ in limits()}
        self.assertEqual([r[0] for r in self.rows if re.fullmatch(r"[NM]?\d[\d.]*", r[0]) and r[0] not in known], [])

    def test_every_target_of_multi_cluster_jobs(self):
        numbers = set(re.findall(r'add_target\("(B\d+)"', (BENCH / "bridge/compare.py").read_text(encoding="utf-8")))
        numbers |= set(re.findall(r"^\| (B\d+) \|", (PAGE.parent / "multi_cluster.md").read_text(encoding="utf-8"), re.M))
        self.assertEqual(sorted(numbers - {row[0] for row in self.rows}), [])


if __name__ == "__main__":
    unittest.main()
