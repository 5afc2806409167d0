# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import unittest

from harness import bars, plan
from harness.figures import Line, Results

PEERS = ["openmpi", "mpich"]
TABLE = {"most_spread": 0.15, "peers": PEERS, "limit": [{"figure": "latency", "most": 40, "reference": "line", "reference_size": 40}]}
STEADY, UNSTEADY = (1.0, 1.0, 1.0, 1.0, 1.0), (0.5, 0.7, 1.0, 1.3, 1.5)


def measured(**libraries):
    """Results with latency (us) at 8 bytes: a median by library, or a pair of it and the shape of its rounds."""
    results = Results()
    for library, value in libraries.items():
        median, shape = value if isinstance(value, tuple) else (value, STEADY)
        for part in shape:
            results.add(library, 2, Line("latency", 8, median * part, "us"))
    return results


def bar(**words):
    return {"number": "0", "text": "", "figure": "latency", "ranks": [2], "sizes": [8], "reference": "best peer",
            "at_most": 0.65} | words


class Verdicts(unittest.TestCase):
    def outcome(self, results, **words):
        return bars.judge(results, bar(**words), TABLE).outcome

    def test_held_and_missed(self):
        self.assertEqual(self.outcome(measured(ours=0.6, openmpi=1, mpich=2)), bars.HELD)
        self.assertEqual(self.outcome(measured(ours=0.7, openmpi=1, mpich=2)), bars.MISSED)

    def test_the_better_peer_counts(self):
        self.assertEqual(self.outcome(measured(ours=0.6, openmpi=2, mpich=0.8)), bars.MISSED)

    def test_a_missing_peer_is_never_passed(self):
        verdict = bars.judge(measured(ours=0.1, openmpi=1), bar(), TABLE)
        self.assertEqual(verdict.outcome, bars.NOT_MEASURED)
        self.assertIn("mpich has no figure", verdict.why)

    def test_a_missing_figure_of_ours_is_never_passed(self):
        self.assertEqual(self.outcome(measured(openmpi=1, mpich=1)), bars.NOT_MEASURED)

    def test_an_unsteady_best_peer_is_never_passed(self):
        self.assertEqual(self.outcome(measured(ours=0.1, openmpi=(1, UNSTEADY), mpich=2)), bars.NOT_MEASURED)

    def test_an_unsteady_peer_that_cannot_be_the_best_does_no_harm(self):
        self.assertEqual(self.outcome(measured(ours=0.1, openmpi=1, mpich=(9, UNSTEADY))), bars.HELD)
        self.assertEqual(self.outcome(measured(ours=0.1, openmpi=1, mpich=(1.1, UNSTEADY))), bars.NOT_MEASURED)

    def test_unsteady_figures_of_ours_are_never_passed(self):
        self.assertEqual(self.outcome(measured(ours=(0.1, UNSTEADY), openmpi=1, mpich=1)), bars.NOT_MEASURED)

    def test_two_rounds_are_too_few(self):
        self.assertEqual(self.outcome(measured(ours=0.1, openmpi=(1, (1, 1)), mpich=2)), bars.NOT_MEASURED)

    def test_a_list_of_points(self):
        results = measured(ours=0.5, openmpi=1, mpich=1)
        table = TABLE | {"points": {"both": {"latency": [8], "bandwidth": [1, 2]}}}
        listed = {key: value for key, value in bar(points="both").items() if key not in ("figure", "sizes")}
        self.assertEqual(len(bars.keys_of(listed, table)), 3)
        verdict = bars.judge(results, listed, table)
        self.assertEqual((verdict.outcome, verdict.points[0].ratio), (bars.NOT_MEASURED, 0.5))

    def test_one_missed_point_outweighs_points_not_measured(self):
        results = measured(ours=2, openmpi=1, mpich=1)
        self.assertEqual(self.outcome(results, sizes=[8, 64]), bars.MISSED)
        results = measured(ours=0.1, openmpi=1, mpich=1)
        self.assertEqual(self.outcome(results, sizes=[8, 64]), bars.NOT_MEASURED)

    def test_geometric_mean(self):
        results = measured(ours=0.5, openmpi=1, mpich=1)
        for library, value in (("ours", 2.0), ("openmpi", 1.0), ("mpich", 1.0)):
            for _ in STEADY:
                results.add(library, 2, Line("latency", 64, value, "us"))
        words = {"rule": "geometric mean", "sizes": [8, 64]}
        self.assertEqual(self.outcome(results, at_most=1.01, **words), bars.HELD)
        self.assertEqual(self.outcome(results, at_most=0.99, **words), bars.MISSED)
        self.assertEqual(self.outcome(results, at_most=1.01, rule="geometric mean", sizes=[8, 64, 128]), bars.NOT_MEASURED)

    def test_other_references(self):
        results = measured(ours=1.0)
        for _ in STEADY:
            results.add("bare", 2, Line("line", 40, 0.8, "us"))
        self.assertEqual(self.outcome(results, reference="bare", reference_figure="line", reference_size=40, at_most=1.5), bars.HELD)
        self.assertEqual(self.outcome(results, reference="bare", reference_figure="other", at_most=1.5), bars.NOT_MEASURED)
        self.assertEqual(bars.limit_of(results, results.keys()[0], TABLE).median, 0.8)

    def test_a_reference_by_the_rest_of_the_name(self):
        results = measured(ours=2)
        for _ in STEADY:
            results.add("ours", 2, Line("busy_latency", 8, 5, "us"))
        words = {"figure": "busy_latency", "reference": "ours", "reference_without": "busy_"}
        self.assertEqual(self.outcome(results, **words, at_most=3), bars.HELD)
        self.assertEqual(self.outcome(results, **words, at_most=2), bars.MISSED)

    def test_the_first_limit_that_was_measured(self):
        results = measured(ours=1.0)
        results.add("ucx", 2, Line("am", 8, 0.7, "us"))
        table = TABLE | {"limit": TABLE["limit"] + [{"figure": "latency", "library": "ucx", "reference": "am"}]}
        self.assertEqual(bars.limit_of(results, results.keys()[0], table).median, 0.7)
        self.assertIsNone(bars.limit_of(results, results.keys()[0], TABLE))

    def test_without_a_reference_the_worst_round_counts(self):
        results = measured(ours=(1, UNSTEADY))
        absolute = {key: value for key, value in bar(at_most=1.4).items() if key != "reference"}
        self.assertEqual(bars.judge(results, absolute, TABLE).outcome, bars.MISSED)
        self.assertEqual(bars.judge(results, absolute | {"at_most": 1.5}, TABLE).outcome, bars.HELD)

    def test_at_least(self):
        results = Results()
        for library, value in (("ours", 2.0), ("openmpi", 1.0), ("mpich", 0.5)):
            for _ in STEADY:
                results.add(library, 2, Line("latency", 8, value, "MB/s"))
        words = {key: value for key, value in bar().items() if key != "at_most"}
        self.assertEqual(bars.judge(results, words | {"at_least": 2.0}, TABLE).outcome, bars.HELD)
        self.assertEqual(bars.judge(results, words | {"at_least": 2.1}, TABLE).outcome, bars.MISSED)


class TheTable(unittest.TestCase):
    def test_every_point_of_a_bar_is_in_the_plan(self):
        sizes_of = {"latency": plan.LATENCY_SIZES, "bandwidth": plan.BANDWIDTH_SIZES, "bandwidth_alloc_mem": plan.LARGE_SIZES}
        for entry in bars.load()["bar"]:
            if entry.get("figure") in sizes_of and entry["set"] == "default":
                planned = {int(size) for size in sizes_of[entry["figure"]].split(",")}
                self.assertLessEqual(set(entry["sizes"]), planned, entry["number"])

    def test_every_bar_of_collectives_is_in_the_plan(self):
        planned = {}
        for run in plan.runs_of("collectives"):
            sizes = next(argument for argument in run.arguments if argument.startswith("sizes="))
            planned[run.ranks] = {0} | {int(size) for size in sizes.removeprefix("sizes=").split(",")}
        table = bars.load()
        for entry in table["bar"]:
            if entry["set"] == "collectives":
                for key in bars.keys_of(entry, table):
                    self.assertIn(key.size, planned[key.ranks], entry["number"])

    def test_every_bar_belongs_to_a_set(self):
        for entry in bars.load()["bar"]:
            self.assertIn(entry["set"], plan.SETS)
        for name in plan.SETS:
            self.assertTrue(any(entry["set"] in plan.sets_of_bars(name) for entry in bars.load()["bar"]))

    def test_numbers_are_unique(self):
        numbers = [entry["number"] for entry in bars.load()["bar"]]
        self.assertEqual(len(numbers), len(set(numbers)))


if __name__ == "__main__":
    unittest.main()
