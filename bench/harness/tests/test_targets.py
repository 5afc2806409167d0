# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
import unittest

from harness import targets, suites
from harness.stats import Line, Results

PEERS = ["openmpi", "mpich"]
TABLE = {"peers": PEERS, "limit": [{"figure": "latency", "most": 40, "reference": "line", "reference_size": 40}]}
STEADY, UNSTEADY = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0), (0.5, 0.7, 1.0, 1.0, 1.3, 1.5)


def measured(**libraries):
    """Results with latency (us) at 8 bytes: a median by library, or a pair of it and the shape of its rounds."""
    results = Results()
    for library, value in libraries.items():
        median, shape = value if isinstance(value, tuple) else (value, STEADY)
        for part in shape:
            results.add(library, 2, Line("latency", 8, median * part, "us"))
    return results


def target(**words):
    return {"number": "0", "text": "", "figure": "latency", "ranks": [2], "sizes": [8], "reference": "best peer",
            "at_most": 0.65} | words


class Verdicts(unittest.TestCase):
    def outcome(self, results, **words):
        return targets.evaluate(results, target(**words), TABLE).outcome

    def test_met_and_missed(self):
        self.assertEqual(self.outcome(measured(zipmpi=0.6, openmpi=1, mpich=2)), targets.MET)
        self.assertEqual(self.outcome(measured(zipmpi=0.7, openmpi=1, mpich=2)), targets.MISSED)

    def test_better_peer_counts(self):
        self.assertEqual(self.outcome(measured(zipmpi=0.6, openmpi=2, mpich=0.8)), targets.MISSED)

    def test_missing_peer_leaves_the_others(self):
        verdict = targets.evaluate(measured(zipmpi=0.1, openmpi=1), target(), TABLE)
        self.assertEqual((verdict.outcome, verdict.points[0].ratio.middle), (targets.MET, 0.1))

    def test_without_pairs(self):
        self.assertEqual(self.outcome(measured(openmpi=1, mpich=1)), targets.NO_PAIRS)
        self.assertEqual(self.outcome(measured(zipmpi=1)), targets.NO_PAIRS)
        apart = measured(zipmpi=0.1)
        apart.add("openmpi", 2, Line("latency", 8, 1, "us"), 99)
        self.assertEqual(targets.evaluate(apart, target(), TABLE).points[0].why, "no round has both figures")

    def test_interval_across_limit_is_open(self):
        self.assertEqual(self.outcome(measured(zipmpi=(0.6, UNSTEADY), openmpi=1, mpich=2)), targets.OPEN)
        self.assertEqual(self.outcome(measured(zipmpi=(0.1, UNSTEADY), openmpi=1, mpich=2)), targets.MET)
        self.assertEqual(self.outcome(measured(zipmpi=(9, UNSTEADY), openmpi=1, mpich=2)), targets.MISSED)

    def test_peer_and_zipmpi_unsteady_together(self):
        self.assertEqual(self.outcome(measured(zipmpi=(0.6, UNSTEADY), openmpi=(1, UNSTEADY), mpich=2)), targets.MET)

    def test_few_pairs_decide_nothing(self):
        self.assertEqual(self.outcome(measured(zipmpi=0.1, openmpi=(1, (1, 1)), mpich=2)), targets.OPEN)

    def test_list_of_points(self):
        results = measured(zipmpi=0.5, openmpi=1, mpich=1)
        table = TABLE | {"points": {"both": {"latency": [8], "bandwidth": [1, 2]}}}
        listed = {key: value for key, value in target(points="both").items() if key not in ("figure", "sizes")}
        self.assertEqual(len(targets.keys_of(listed, table)), 3)
        verdict = targets.evaluate(results, listed, table)
        self.assertEqual((verdict.outcome, verdict.points[0].ratio.middle), (targets.OPEN, 0.5))

    def test_missed_point_outweighs_open_points(self):
        results = measured(zipmpi=2, openmpi=1, mpich=1)
        self.assertEqual(self.outcome(results, sizes=[8, 64]), targets.MISSED)
        results = measured(zipmpi=0.1, openmpi=1, mpich=1)
        self.assertEqual(self.outcome(results, sizes=[8, 64]), targets.OPEN)

    def test_geometric_mean(self):
        results = measured(zipmpi=0.5, openmpi=1, mpich=1)
        for library, value in (("zipmpi", 2.0), ("openmpi", 1.0), ("mpich", 1.0)):
            for _ in STEADY:
                results.add(library, 2, Line("latency", 64, value, "us"))
        words = {"rule": "geometric mean", "sizes": [8, 64]}
        self.assertEqual(self.outcome(results, at_most=1.01, **words), targets.MET)
        self.assertEqual(self.outcome(results, at_most=0.99, **words), targets.MISSED)
        self.assertEqual(self.outcome(results, at_most=1.01, rule="geometric mean", sizes=[8, 64, 128]), targets.OPEN)

    def test_other_references(self):
        results = measured(zipmpi=1.0)
        for _ in STEADY:
            results.add("baseline", 2, Line("line", 40, 0.8, "us"))
        self.assertEqual(self.outcome(results, reference="baseline", reference_figure="line", reference_size=40, at_most=1.5), targets.MET)
        self.assertEqual(self.outcome(results, reference="baseline", reference_figure="other", at_most=1.5), targets.NO_PAIRS)
        self.assertEqual(targets.limit_of(results, results.keys()[0], TABLE).median, 0.8)

    def test_reference_without_prefix(self):
        results = measured(zipmpi=2)
        for _ in STEADY:
            results.add("zipmpi", 2, Line("busy_latency", 8, 5, "us"))
        words = {"figure": "busy_latency", "reference": "zipmpi", "reference_without": "busy_"}
        self.assertEqual(self.outcome(results, **words, at_most=3), targets.MET)
        self.assertEqual(self.outcome(results, **words, at_most=2), targets.MISSED)

    def test_first_measured_limit(self):
        results = measured(zipmpi=1.0)
        results.add("ucx", 2, Line("am", 8, 0.7, "us"))
        table = TABLE | {"limit": TABLE["limit"] + [{"figure": "latency", "library": "ucx", "reference": "am"}]}
        self.assertEqual(targets.limit_of(results, results.keys()[0], table).median, 0.7)
        self.assertIsNone(targets.limit_of(results, results.keys()[0], TABLE))

    def test_worst_round_counts_without_reference(self):
        results = measured(zipmpi=(1, UNSTEADY))
        absolute = {key: value for key, value in target(at_most=1.4).items() if key != "reference"}
        self.assertEqual(targets.evaluate(results, absolute, TABLE).outcome, targets.MISSED)
        self.assertEqual(targets.evaluate(results, absolute | {"at_most": 1.5}, TABLE).outcome, targets.MET)

    def test_targets_for_a_busy_machine(self):
        table = TABLE | {"target": [target(set="default"), target(set="default", number="1", busy="one")]}
        results = measured(zipmpi=0.6, openmpi=1, mpich=2)
        for busy, number in (("no", "0"), ("one", "1")):
            self.assertEqual([verdict.target["number"] for verdict in targets.evaluate_all(results, table, ("default",), busy)], [number])
        self.assertEqual(targets.evaluate_all(results, table, ("default",), "cores"), [])

    def test_at_least(self):
        results = Results()
        for library, value in (("zipmpi", 2.0), ("openmpi", 1.0), ("mpich", 0.5)):
            for _ in STEADY:
                results.add(library, 2, Line("latency", 8, value, "MB/s"))
        words = {key: value for key, value in target().items() if key != "at_most"}
        self.assertEqual(targets.evaluate(results, words | {"at_least": 2.0}, TABLE).outcome, targets.MET)
        self.assertEqual(targets.evaluate(results, words | {"at_least": 2.1}, TABLE).outcome, targets.MISSED)


class TheTable(unittest.TestCase):
    def test_points_of_targets_are_in_suite(self):
        sizes_of = {"latency": suites.LATENCY_SIZES, "bandwidth": suites.BANDWIDTH_SIZES, "bandwidth_alloc_mem": suites.LARGE_SIZES}
        for entry in targets.load()["target"]:
            if entry.get("figure") in sizes_of and entry["set"] == "default":
                planned = {int(size) for size in sizes_of[entry["figure"]].split(",")}
                self.assertLessEqual(set(entry["sizes"]), planned, entry["number"])

    def test_collective_targets_are_in_suite(self):
        planned = {}
        for run in suites.runs_of("collectives"):
            sizes = next(argument for argument in run.arguments if argument.startswith("sizes="))
            planned[run.ranks] = {0} | {int(size) for size in sizes.removeprefix("sizes=").split(",")}
        table = targets.load()
        for entry in table["target"]:
            if entry["set"] == "collectives":
                for key in targets.keys_of(entry, table):
                    self.assertIn(key.size, planned[key.ranks], entry["number"])

    def test_every_target_belongs_to_a_suite(self):
        for entry in targets.load()["target"]:
            self.assertIn(entry["set"], suites.SUITES)
        for name in set(suites.SUITES) - {suites.APPLICATIONS}:
            self.assertTrue(any(entry["set"] in suites.suites_of_targets(name) for entry in targets.load()["target"]))

    def test_numbers_are_unique(self):
        numbers = [entry["number"] for entry in targets.load()["target"]]
        self.assertEqual(len(numbers), len(set(numbers)))


if __name__ == "__main__":
    unittest.main()
