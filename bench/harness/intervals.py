# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals of medians of ratios, by resampling (bootstrap). Deterministic: the resamples depend on SEED and on the
number of values only, so values of the same rounds are resampled together."""
import functools
import math
import random
import statistics
from typing import NamedTuple

CONFIDENCE = 0.95
RESAMPLES = 2000
SEED = 20261117
TINY = 1e-9  # in place of a ratio of zero in a geometric mean
MIN_PAIRS = 6  # fewest values whose range includes the median of their distribution with 95 % confidence


class Interval(NamedTuple):
    """A median, or a geometric mean of medians, and the ends of its interval."""
    middle: float
    low: float
    high: float
    pairs: int

    @property
    def enough(self):
        return self.pairs >= MIN_PAIRS

    @property
    def width(self):
        return (self.high - self.low) / self.middle if self.middle else math.inf

    def narrower_than(self, width):
        return self.enough and self.width < width


@functools.lru_cache(maxsize=64)
def resamples(count):
    """RESAMPLES lists of `count` indices, drawn with replacement."""
    generator = random.Random(SEED * 1000003 + count)
    everything = range(count)
    return [generator.choices(everything, k=count) for _ in range(RESAMPLES)]


def resampled_medians(values):
    return [statistics.median([values[index] for index in indices]) for indices in resamples(len(values))]


def ends(sample):
    """The ends of the middle CONFIDENCE of a sample."""
    ordered, outside = sorted(sample), int(len(sample) * (1 - CONFIDENCE) / 2)
    return ordered[outside], ordered[-1 - outside]


@functools.lru_cache(maxsize=256)
def order_rank(count):
    """The largest k for which the k-th smallest and the k-th largest of `count` values enclose the median of their distribution
    with CONFIDENCE, whatever the distribution is; at least 1."""
    below, k = 0.0, 0
    while 2 * (below + math.comb(count, k) / 2 ** count) <= 1 - CONFIDENCE:
        below += math.comb(count, k) / 2 ** count
        k += 1
    return max(k, 1)


@functools.lru_cache(maxsize=4096)
def of_tuple(values):
    ordered, k = sorted(values), order_rank(len(values))
    low, high = ends(resampled_medians(values))
    return Interval(statistics.median(values), min(low, ordered[k - 1]), max(high, ordered[-k]), len(values))


def of_median(values):
    """The interval of the median. The bootstrap alone is too narrow for few values, so it is never narrower than the interval
    of the order statistics."""
    return of_tuple(tuple(values))


def of_geometric_mean(samples):
    """The interval of the geometric mean of the medians of several lists of ratios."""
    logarithms = [[math.log(max(median, TINY)) for median in resampled_medians(values)] for values in samples]
    means = [math.exp(math.fsum(row) / len(samples)) for row in zip(*logarithms)]
    middle = math.exp(math.fsum(math.log(max(statistics.median(values), TINY)) for values in samples) / len(samples))
    return Interval(middle, *ends(means), min(map(len, samples)))
