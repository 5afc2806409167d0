# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Result lines of programs, and the statistics over rounds: medians, spreads, ratios."""
import math
import re
import statistics
from typing import NamedTuple

LINE = re.compile(r"^(?P<name>[a-z][a-z0-9_]*) (?P<size>\d+) (?P<value>[-+0-9.e]+) (?P<unit>\S+)$")
HIGHER_IS_BETTER = {"MB/s", "M/s", "k/s", "%hidden"}
MIN_ROUNDS = 3  # minimum for a spread


class Line(NamedTuple):
    name: str
    size: int
    value: float
    unit: str


class Key(NamedTuple):
    name: str
    ranks: int
    size: int


def parse(text):
    """The results in the output of a program; other lines are ignored."""
    lines = []
    for match in filter(None, map(LINE.match, text.splitlines())):
        try:
            value = float(match["value"])
        except ValueError:
            continue
        if math.isfinite(value):
            lines.append(Line(match["name"], int(match["size"]), value, match["unit"]))
    return lines


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Figure:
    """One quantity measured with one library: a value per round."""

    def __init__(self, unit, values=()):
        self.unit, self.values = unit, list(values)

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def higher_is_better(self):
        return self.unit in HIGHER_IS_BETTER

    def quartiles(self):
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return low, high

    @property
    def spread(self):
        """Interquartile range relative to the median; None with too few rounds."""
        if len(self.values) < MIN_ROUNDS or self.median == 0:
            return None
        low, high = self.quartiles()
        return (high - low) / self.median

    def steady(self, max_spread):
        return self.spread is not None and self.spread <= max_spread

    def better_than(self, other):
        return self.median > other.median if self.higher_is_better else self.median < other.median

    def better_quartile(self):
        if len(self.values) < 2:
            return self.median
        low, high = self.quartiles()
        return high if self.higher_is_better else low

    def worst(self):
        return min(self.values) if self.higher_is_better else max(self.values)


class Results:
    """Figures by library and key."""

    def __init__(self):
        self.libraries = {}

    def add(self, library, ranks, line):
        figures = self.libraries.setdefault(library, {})
        figures.setdefault(Key(line.name, ranks, line.size), Figure(line.unit)).values.append(line.value)

    def figure(self, library, key):
        return self.libraries.get(library, {}).get(key)

    def keys(self):
        """All keys, in the order of their first measurement."""
        return list(dict.fromkeys(key for figures in self.libraries.values() for key in figures))

    def as_json(self):
        return [{"library": library, "name": key.name, "ranks": key.ranks, "size": key.size, "unit": figure.unit,
                 "median": figure.median, "spread": figure.spread, "values": figure.values}
                for library, figures in self.libraries.items() for key, figure in figures.items()]
