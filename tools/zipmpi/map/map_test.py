#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""zipmpi map: its text, the contents of its figures, and their rendering by a browser. usage: map_test.py ZIPMPI"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
import installed  # noqa: E402

ZIPMPI = sys.argv.pop()
SEED_MACHINE = "package:2 l2:2 core:2 pu:1(indexes=0,4,2,6,1,5,3,7)"


def zipmpi_map(*args):
    return subprocess.run([ZIPMPI, "map", *map(str, args)], capture_output=True, text=True, timeout=60)


def pixels(path):
    """Width, height and the rows of an RGB or RGBA PNG."""
    with open(path, "rb") as f:
        data = f.read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    raw, n = zlib.decompress(packed), 3 if kind == 2 else 4
    rows, before, stride = [], bytes(width * n), width * n
    for y in range(height):
        how, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = (row[i - n] if i >= n else 0), before[i], (before[i - n] if i >= n else 0)
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth)[how]) & 255
        rows.append([bytes(row[i:i + 3]) for i in range(0, stride, n)])
        before = row
    return width, height, rows


class Map(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def draw(self, browser, svg):
        """Renders a figure with a browser and checks its size. Returns the SVG root and the set of colors."""
        root = ElementTree.parse(svg).getroot()
        size = root.get("width"), root.get("height")
        png = svg + ".png"
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={self.folder}/browser", f"--window-size={size[0]},{size[1]}",
                        f"--screenshot={png}", "file://" + svg], capture_output=True, timeout=60, check=True)
        width, height, rows = pixels(png)
        self.assertEqual((str(width), str(height)), size)
        return root, {pixel for row in rows for pixel in row}

    def texts(self, root):
        return [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_cg_rows_share_caches(self):
        r = zipmpi_map("--pattern", "cg:16", "--map-by", "comm", "--machine", SEED_MACHINE)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for line in ("cpu 0              ranks 0 1 2 3", "cpu 4              ranks 0 1 2 3",
                     "cpu 2              ranks 4 5 6 7", "cpu 5              ranks 8 9 10 11"):
            self.assertIn(line, r.stdout)
        self.assertIn("best found", r.stdout)

    def test_matrix_file_round_trip(self):
        file = self.path("halo.matrix")
        r = zipmpi_map("--pattern", "halo:4x4", "--write", file)
        self.assertEqual(r.returncode, 0, r.stderr)
        again = zipmpi_map("--matrix", file, "--map-by", f"comm:{file}")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertIn("16 ranks; rows send, columns receive", again.stdout)

    def test_message_sizes(self):
        file = self.path("sizes.matrix")
        with open(file, "w", encoding="utf-8") as f:
            f.write("zipmpi-matrix 1\nranks 2\n0 1 4 300 0 0\n# size 0 1\n# size 64 3\n")
        lines = [" ".join(line.split()) for line in zipmpi_map("--matrix", file).stdout.splitlines()]
        self.assertEqual(lines[lines.index("bytes of a message messages"):][1:3], ["0 1 25.0 %", "64 to 127 3 75.0 %"])
        zipmpi_map("--pattern", "halo:4x4", "--write", file)
        self.assertNotIn("bytes of a message", zipmpi_map("--matrix", file).stdout)

    def test_json(self):
        r = zipmpi_map("--json", "--host", "n1:2,n2:1", "--machine", "package:1 core:2 pu:1")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        facts = json.loads(r.stdout)
        self.assertEqual([(n["node"], n["host"], [x["rank"] for x in n["ranks"]]) for n in facts["nodes"]],
                         [(0, "n1", [0, 1]), (1, "n2", [2])])
        self.assertEqual([x["cpus"] for x in facts["nodes"][0]["ranks"]], [[0], [1]])
        self.assertEqual((facts["world_size"], facts["map_by"], "costs" in facts), (3, "spread", False))
        file = self.path("json.matrix")
        with open(file, "w", encoding="utf-8") as f:
            f.write("zipmpi-matrix 1\nranks 2\n0 1 4 300 0 0\n# size 0 1\n# size 64 3\n")
        facts = json.loads(zipmpi_map("--json", "--matrix", file).stdout)
        self.assertEqual([c["placement"] for c in facts["costs"]], ["ranks in order", "round robin", "best found"])
        self.assertGreater(facts["costs"][0]["cost"], 0)
        self.assertEqual(facts["message_sizes"], [{"smallest_bytes": 0, "messages": 1}, {"smallest_bytes": 64, "messages": 3}])

    def test_errors(self):
        for args, text in (((("--pattern", "tree:4")), "the pattern is not known"),
                           (("--map-by", "comm"), "there is no communication matrix"),
                           (("--map-by", "star"), "the value of --map-by is not valid"),
                           (("--machine", "three:2"), "the machine is not valid"),
                           (("--matrix", "/no/such/file"), "the communication matrix cannot be read"),
                           (("-n", 99999999), "99999999 ranks; a job has at most 1000000"),
                           (("--host", ",".join(f"h{i}:60000" for i in range(20))), "1200000 ranks; a job has at most 1000000"),
                           (("--heatmap", self.path("h.svg")), "there is no communication matrix"),
                           (("--svg", "/no/such/folder/x.svg"), "a file cannot be written")):
            with self.subTest(args=args):
                r = zipmpi_map(*args)
                self.assertNotEqual(r.returncode, 0)
                self.assertIn(text, r.stderr)
                self.assertEqual(r.stderr.count("\n"), 4)

    def test_many_ranks_fit_into_core_box(self):
        svg = self.path("many.svg")
        r = zipmpi_map("--pattern", "random:300:4:1", "--map-by", "comm", "--machine", "package:2 core:2 pu:1", "--svg", svg)
        self.assertEqual(r.returncode, 0, r.stderr)
        bold = [t.text for t in ElementTree.parse(svg).getroot().iter() if t.get("font-weight") == "bold"][2:]
        self.assertEqual(sorted(int(n) for text in bold for part in text.split() for n in self.ranks_of(part)), [*range(300)])
        self.assertLessEqual(max(map(len, bold)), 11)

    @staticmethod
    def ranks_of(part):
        first, _, last = part.partition("-")
        return range(int(first), int(last or first) + 1)

    def test_adjacent_ranks_as_ranges(self):
        r = zipmpi_map("--pattern", "ring:32", "--map-by", "comm", "--machine", "package:1 core:2 pu:1")
        self.assertRegex(r.stdout, r"(?m)cpu 0 +ranks \d+-\d+( \d+-\d+)?$")
        self.assertRegex(r.stdout, r"best found +\d+ +1\.00 x")

    def test_figures(self):
        browser = installed.needed(*installed.BROWSERS)
        svg, heat = self.path("map.svg"), self.path("heat.svg")
        r = zipmpi_map("--pattern", "cg:16", "--map-by", "comm", "--machine", SEED_MACHINE, "--svg", svg, "--heatmap", heat)
        self.assertEqual(r.returncode, 0, r.stderr)
        root, colors = self.draw(browser, svg)
        texts = self.texts(root)
        for text in ("16 ranks by comm", "socket 0", "socket 1", "L2 3", "cpu 7", "0 1 2 3", "12 13 14 15"):
            self.assertIn(text, texts)
        self.assertEqual(texts.count("4 5 6 7"), 2)
        self.assertTrue({bytes.fromhex("2f6db5"), bytes.fromhex("fdf3d8"), bytes.fromhex("dfe9f5")} <= colors)
        root, colors = self.draw(browser, heat)
        texts = self.texts(root)
        for text in ("messages of cg:16", "round robin", "best found", "2.74 x", "15"):
            self.assertIn(text, texts)
        hints = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(len(hints), 44)
        self.assertIn("0 to 1: 300 messages, 4.688 MiB", hints)
        self.assertIn(bytes.fromhex("08306b"), colors)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
