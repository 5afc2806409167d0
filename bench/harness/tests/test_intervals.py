# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of medians of ratios: known ones, their coverage, and what pairs of neighboring runs are for."""
import math
import random
import statistics
import unittest

from harness import intervals, targets
from harness.stats import Figure, Line, Results, paired_ratios


def share_of_medians_up_to(k, count):
    """The exact share of resamples of an odd number of values whose median is at most the k-th smallest."""
    return sum(math.comb(count, i) * (k / count) ** i * (1 - k / count) ** (count - i) for i in range((count + 1) // 2, count + 1))


def rounds_of(generator, count, ratio, noise, drift):
    """Values of ZipMPI and of a peer that takes 1: each round is slowed down by the drift, each run by noise."""
    ours, peer = [], []
    for number in range(count):
        speed = drift(number / count)
        ours.append(ratio * speed * math.exp(generator.gauss(0, noise)))
        peer.append(speed * math.exp(generator.gauss(0, noise)))
    return ours, peer


def results_of(ours, peer):
    results = Results()
    for library, values in (("zipmpi", ours), ("openmpi", peer)):
        for number, value in enumerate(values, 1):
            results.add(library, 2, Line("latency", 8, value, "us"), number)
    return results


def outcome(results, **limit):
    target = {"number": "0", "text": "", "figure": "latency", "ranks": [2], "sizes": [8], "reference": "best peer", **limit}
    return targets.evaluate(results, target, {"peers": ["openmpi"], "limit": []}).outcome


class KnownIntervals(unittest.TestCase):
    def test_order_statistics(self):
        # By the binomial distribution: of 6 values the range, of 9 the second and the eighth, of 20 the sixth and the fifteenth.
        self.assertEqual([intervals.order_rank(count) for count in (5, 6, 8, 9, 12, 20)], [1, 1, 1, 2, 3, 6])

    def test_few_values_have_their_range(self):
        found = intervals.of_median([3, 1, 2, 6, 5, 4])
        self.assertEqual(found, intervals.Interval(3.5, 1, 6, 6))
        self.assertTrue(found.enough)
        self.assertFalse(intervals.of_median([1, 2, 3]).enough)

    def test_equal_values_have_no_width(self):
        found = intervals.of_median([0.5] * 7)
        self.assertEqual((found.middle, found.low, found.high, found.width), (0.5, 0.5, 0.5, 0))
        self.assertTrue(found.narrower_than(0.04))

    def test_resampled_medians_follow_their_exact_distribution(self):
        count = 11
        medians = intervals.resampled_medians(list(range(1, count + 1)))
        for k in range(1, count + 1):
            share = sum(median <= k for median in medians) / len(medians)
            self.assertAlmostEqual(share, share_of_medians_up_to(k, count), delta=0.03)

    def test_interval_of_many_values(self):
        found = intervals.of_median(list(range(1, 102)))
        self.assertEqual(found.middle, 51)
        self.assertAlmostEqual(found.low, 41, delta=2)  # the ranks 41 and 61 by the binomial distribution
        self.assertAlmostEqual(found.high, 61, delta=2)

    def test_result_is_reproducible(self):
        values = [random.Random(5).uniform(0.8, 1.2) for _ in range(12)]
        first = intervals.of_median(values)
        intervals.resamples.cache_clear()
        intervals.of_tuple.cache_clear()
        self.assertEqual(intervals.of_median(values), first)

    def test_coverage(self):
        for count in (6, 9, 15):
            generator, hits, trials = random.Random(count), 0, 150
            for _ in range(trials):
                found = intervals.of_median([math.exp(generator.gauss(0, 0.2)) for _ in range(count)])
                hits += found.low <= 1 <= found.high
            self.assertGreaterEqual(hits / trials, 0.92, count)

    def test_geometric_mean(self):
        found = intervals.of_geometric_mean([[0.5] * 6, [2.0] * 8])
        self.assertAlmostEqual(found.middle, 1)
        self.assertAlmostEqual(found.width, 0)
        self.assertEqual(found.pairs, 6)
        generator = random.Random(3)
        samples = [[math.exp(generator.gauss(math.log(ratio), 0.1)) for _ in range(10)] for ratio in (0.5, 0.8, 1.25)]
        found = intervals.of_geometric_mean(samples)
        truth = (0.5 * 0.8 * 1.25) ** (1 / 3)
        self.assertTrue(found.low < truth < found.high)
        self.assertLess(found.width, max(intervals.of_median(values).width for values in samples))


class Pairs(unittest.TestCase):
    def test_only_values_of_one_round_are_pairs(self):
        ours, peer = Figure("us", [1, 4, 9], [1, 3, 4]), Figure("us", [2, 5, 3, 0], [1, 2, 4, 3])
        self.assertEqual(paired_ratios(ours, peer), [0.5, 3])

    def test_drift_cancels(self):
        """A machine that becomes three times slower: no single library is steady, their ratio is."""
        ours, peer = rounds_of(random.Random(1), 12, 0.9, 0.005, lambda part: 1 + 2 * part)
        results = results_of(ours, peer)
        self.assertGreater(Figure("us", ours).spread, 0.3)
        pairs, interval, _ = targets.ratio_to_best_peer(results, results.keys()[0], ["openmpi"])
        self.assertTrue(interval.narrower_than(0.04))
        self.assertTrue(interval.low < 0.9 < interval.high)
        apart = paired_ratios(Figure("us", ours), Figure("us", peer[6:] + peer[:6]))  # the same values, of other rounds
        self.assertFalse(intervals.of_median(apart).narrower_than(0.04))
        self.assertEqual(len(pairs), 12)
        self.assertEqual(outcome(results, at_most=0.95), targets.MET)
        self.assertEqual(outcome(results, at_most=0.85), targets.MISSED)

    def test_planted_difference_is_found(self):
        for seed in range(10):
            results = results_of(*rounds_of(random.Random(seed), 12, 1.1, 0.03, lambda part: 1 + 0.5 * math.sin(20 * part)))
            self.assertEqual(outcome(results, at_most=1.02), targets.MISSED, seed)

    def test_equal_libraries_do_not_differ(self):
        wrong = 0
        for seed in range(40):
            results = results_of(*rounds_of(random.Random(seed), 12, 1.0, 0.03, lambda part: 1 + part))
            wrong += outcome(results, at_most=1.0) != targets.OPEN
        self.assertLessEqual(wrong, 4)

    def test_ratio_is_median_of_ratios(self):
        ours, peer = [1, 2, 3, 4, 5, 6], [2, 2, 2, 4, 4, 8]
        found = intervals.of_median(paired_ratios(Figure("us", ours), Figure("us", peer)))
        self.assertEqual(found.middle, statistics.median(a / b for a, b in zip(ours, peer)))


if __name__ == "__main__":
    unittest.main()
