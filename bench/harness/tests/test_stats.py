# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import unittest

from harness import ucx
from harness.stats import Figure, Key, Line, Results, RunFailed, geometric_mean, parse, startup_times


class Parsing(unittest.TestCase):
    def test_results_among_other_lines(self):
        text = ("[host:1] warning 8 of something\nlatency 8 0.435 us\n\nbandwidth 4194304 1.2e+04 MB/s\nlatency 8 0.4\n"
                "latency -8 1 us\nlatency 8 .. us\nlatency 8 1 us more\n")
        self.assertEqual(parse(text), [Line("latency", 8, 0.435, "us"), Line("bandwidth", 4194304, 12000.0, "MB/s")])

    def test_values_that_are_not_numbers(self):
        self.assertEqual(parse("latency 8 nan us\nlatency 8 inf us\nlatency 8 1e999 us\n"), [])

    def test_startup_is_that_of_last_rank(self):
        output = "startup 0 2 1000 3000000000\nnoise\nstartup 1 2 1000 2000000000\n"
        self.assertEqual(startup_times(output, 1000000000, 2), [Line("startup", 0, 2.0, "s")])
        with self.assertRaises(RunFailed):
            startup_times(output, 0, 3)

    def test_final_line_of_ucx(self):
        text = "junk\nFinal:     100000      0.403      0.404      0.405       18.85       20.00     2470834     2470000\n"
        self.assertAlmostEqual(ucx.parse_final(text, "us"), 0.405)
        self.assertAlmostEqual(ucx.parse_final(text, "MB/s"), 20 * 1.048576)
        self.assertIsNone(ucx.parse_final("", "us"))


class Statistics(unittest.TestCase):
    def test_median_and_spread(self):
        figure = Figure("us", [1, 2, 3, 4, 100])
        self.assertEqual(figure.median, 3)
        self.assertAlmostEqual(figure.spread, 2 / 3)

    def test_too_few_rounds_have_no_spread(self):
        self.assertIsNone(Figure("us", [1, 1]).spread)

    def test_zero_has_no_spread(self):
        self.assertIsNone(Figure("%hidden", [0, 0, 0]).spread)

    def test_better_depends_on_unit(self):
        self.assertTrue(Figure("us", [1]).better_than(Figure("us", [2])))
        self.assertTrue(Figure("MB/s", [2]).better_than(Figure("MB/s", [1])))
        for rate in ("M/s", "k/s"):
            self.assertTrue(Figure(rate, [2]).better_than(Figure(rate, [1])))
        self.assertEqual(Figure("us", [1, 2]).worst(), 2)
        self.assertEqual(Figure("MB/s", [1, 2]).worst(), 1)

    def test_geometric_mean(self):
        self.assertAlmostEqual(geometric_mean([0.5, 2.0]), 1.0)

    def test_results_collect_rounds(self):
        results = Results()
        for value in (1.0, 2.0):
            results.add("zipmpi", 2, Line("latency", 8, value, "us"))
        results.add("mpich", 4, Line("latency", 8, 3.0, "us"))
        self.assertEqual(results.figure("zipmpi", Key("latency", 2, 8)).values, [1.0, 2.0])
        self.assertIsNone(results.figure("zipmpi", Key("latency", 4, 8)))
        self.assertEqual(results.keys(), [Key("latency", 2, 8), Key("latency", 4, 8)])
        self.assertEqual(results.as_json()[0]["median"], 1.5)


if __name__ == "__main__":
    unittest.main()
