# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import io
import json
import os
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zlib

from harness import targets, suites, report, runner, variants
from harness.stats import Line, Results
from harness.plots import chart, glyphs, png


def comparison():
    results = Results()
    for _ in range(6):
        for library, factor in (("zipmpi", 1), ("openmpi", 2), ("openmpi_ucx", 3), ("mpich", 4)):
            for size in (0, 8, 1024):
                results.add(library, 2, Line("latency", size, factor * (1 + size / 1000), "us"))
        results.add("baseline", 2, Line("line_ping_pong", 40, 0.9, "us"))
    titles = {"zipmpi": "ZipMPI", "openmpi": "Open MPI", "openmpi_ucx": "Open MPI ucx", "baseline": "baseline"}
    libraries = [{"key": key, "title": title, "version": "1", "command": "run"} for key, title in titles.items()]
    table = targets.load()
    host = {"processor": "p", "cores": 2, "caches": "L1 1 KiB", "memory": "m", "virtualization": "KVM", "kernel": "k", "system": "s", "load": 0.0}
    return {"date": "d", "commit": "c", "set": "quick", "rounds": 6, "seconds": 1.0, "seed": 1, "busy": "no", "host": host, "absent": {"mpich": "gone"},
            "failures": [{"library": "mpich", "run": "latency", "round": 1, "why": "a\nb"}], "libraries": libraries,
            "results": results, "table": table, "vary": None, "verdicts": targets.evaluate_all(results, table, ("default",))}


def variation():
    """ZipMPI with two settings: one a tenth slower, one with a large spread."""
    results = Results()
    for part in (0.5, 1, 1, 1, 1, 2):
        results.add("zipmpi", 2, Line("pattern_cg", 0, 10, "us"))
        results.add("slow", 2, Line("pattern_cg", 0, 11, "us"))
        results.add("odd", 2, Line("pattern_cg", 0, 10 * part * part, "us"))
    names = ("zipmpi", "slow", "odd")
    return comparison() | {"results": results, "vary": "PARAMETER=slow,odd", "verdicts": [], "failures": [], "absent": {},
                           "libraries": [{"key": name, "title": name, "version": "1", "command": "run"} for name in names]}


class Reports(unittest.TestCase):
    def test_text_and_markdown(self):
        for markdown in (False, True):
            text = report.Report(comparison(), markdown).whole()
            for part in ("ZipMPI", "0.50 (0.50-0.50)", "1.11", "1 Ki", "no pairs", "absent", "gone", "a b", "L1 1 KiB", "KVM"):
                self.assertIn(part, text)

    def test_ratio_of_few_pairs_is_marked(self):
        few = comparison()
        for library in ("zipmpi", "openmpi"):
            few["results"].add(library, 2, Line("latency", 2048, 5, "us"))
        self.assertIn("1.00 (1.00-1.00) ?", report.Report(few, True).whole())
        self.assertNotIn("?", report.Report(comparison(), True).figure_table(comparison()["results"].keys()[:2]))

    def test_variants_relative_to_default(self):
        rows = variants.rows(variation())
        self.assertEqual(rows[0], ["pattern", "ranks", "default", "slow", "odd"])
        self.assertEqual(rows[1][:2] + rows[1][3:], ["cg", "2", "1.10 (1.10-1.10)", "1.00 (0.25-4.00)"])
        self.assertEqual(rows[2][3], "1.10 (1.10-1.10)")
        text = report.Report(variation(), False).whole()
        self.assertIn("PARAMETER / default", text)
        self.assertNotIn("best peer", text)

    def test_markdown_columns(self):
        rows = [line for line in report.Report(comparison(), True).whole().splitlines() if line.startswith("|")]
        for first, second in zip(rows, rows[1:]):
            if second.startswith("|---"):
                self.assertEqual(first.count("|"), second.count("|"))

    def test_json_has_all_rounds(self):
        data = json.loads(json.dumps(report.as_json(comparison())))
        self.assertEqual(len(data["figures"][0]["values"]), 6)
        self.assertEqual(data["figures"][0]["rounds"], [1, 2, 3, 4, 5, 6])
        self.assertEqual(len(data["targets"]), sum(target["set"] == "default" for target in targets.load()["target"]))


class Pictures(unittest.TestCase):
    def test_both_formats_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            chart.draw_all(report.as_json(comparison()), folder)
            xml.etree.ElementTree.parse(os.path.join(folder, "latency.svg"))
            with open(os.path.join(folder, "latency.png"), "rb") as file:
                self.assertTrue(file.read().startswith(b"\x89PNG"))
            self.assertFalse(os.path.exists(os.path.join(folder, "bandwidth.svg")))  # nothing was measured

    def test_baseline_between_hosts(self):
        over_hosts = comparison() | {"set": "cluster"}
        for size in (8, 1024):
            over_hosts["results"].add("ucx", 2, Line("ucx_am_latency", size, 5.0, "us"))
        with tempfile.TemporaryDirectory() as folder:
            chart.draw_all(report.as_json(over_hosts), folder)
            with open(os.path.join(folder, "latency.svg"), encoding="utf-8") as file:
                text = file.read()
        self.assertIn("two hosts", text)
        self.assertIn("active messages of UCX", text)

    def test_variants_over_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            chart.draw_all(report.as_json(variation()), folder)
            self.assertEqual(sorted(os.listdir(folder)), ["variants.png", "variants.svg"])
            xml.etree.ElementTree.parse(os.path.join(folder, "variants.svg"))

    def test_one_sided_pictures(self):
        made = comparison() | {"set": "onesided_hosts"}
        for round_number in range(3):
            for library in ("zipmpi", "mpich"):
                for size in (8, 4096):
                    made["results"].add(library, 2, Line("epoch_hidden_lock", size, 40 * round_number, "%hidden"))
                for ranks in (4, 8):
                    made["results"].add(library, ranks, Line("fence_alone", 16, ranks, "us"))
        with tempfile.TemporaryDirectory() as folder:
            chart.draw_all(report.as_json(made), folder)
            drawn = {name for name in os.listdir(folder) if name.endswith(".svg")}
            self.assertEqual(drawn, {"latency.svg", "epoch_overlap.svg", "fences.svg"})  # only measured pictures
            for name in drawn:
                xml.etree.ElementTree.parse(os.path.join(folder, name))
            with open(os.path.join(folder, "fences.svg"), encoding="utf-8") as file:
                text = file.read()
        self.assertIn("two hosts", text)
        self.assertNotIn("one put of 16 bytes", text)  # a panel without figures

    def test_pixels(self):
        canvas = png.Canvas(20, 20)
        canvas.disc(10, 10, 4, "#ff0000")
        with tempfile.TemporaryDirectory() as folder:
            canvas.save(os.path.join(folder, "p.png"))
            with open(os.path.join(folder, "p.png"), "rb") as file:
                data = file.read()
        begin = data.index(b"IDAT") + 4
        row = zlib.decompress(data[begin:data.index(b"IEND") - 8])[15 * (1 + 30 * 3):][:1 + 30 * 3]
        self.assertEqual(row[1:4], b"\xff\xff\xff")
        self.assertEqual(row[1 + 15 * 3:4 + 15 * 3], b"\xff\x00\x00")

    def test_letters_are_complete(self):
        for letter, chains in glyphs.STROKES.items():
            for chain in chains.split():
                self.assertEqual(len(chain) % 2, 0, letter)
                self.assertTrue(all(digit in "01234" for digit in chain[::2]), letter)


class Running(unittest.TestCase):
    def test_hanging_run_is_ended(self):
        begin = time.monotonic()
        with self.assertRaises(runner.RunFailed):
            runner.output_of(["sleep", "60"], 0.2)
        self.assertLess(time.monotonic() - begin, 30)

    def test_failed_run_has_reason(self):
        with self.assertRaisesRegex(runner.RunFailed, "status 3: reason"):
            runner.output_of(["sh", "-c", "echo reason >&2; exit 3"], 20)

    def test_progress_without_terminal(self):
        stream = io.StringIO()
        progress = runner.Progress(runner.Plan(None, 90, 0.04, 1), stream)
        for number in (1, 1, 2, 2):
            progress.show(number, "x")
        self.assertIn("of at most 1:30", stream.getvalue())
        self.assertEqual(len(stream.getvalue().splitlines()), 2)

    def test_every_suite_has_runs(self):
        for name in set(suites.SUITES) - {suites.APPLICATIONS}:
            self.assertTrue(suites.runs_of(name))


if __name__ == "__main__":
    unittest.main()
