# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Result lines of programs, and the statistics over rounds: medians, spreads, ratios of neighboring runs."""
import math
import re
import statistics
from typing import NamedTuple

LINE = re.compile(r"^(?P<name>[a-z][a-z0-9_]*) (?P<size>\d+) (?P<value>[-+0-9.e]+) (?P<unit>\S+)$")
HIGHER_IS_BETTER = {"MB/s", "GB/s", "M/s", "k/s", "GUP/s", "Gflop/s", "Tflop/s", "rate", "%hidden"}
MIN_ROUNDS = 3  # minimum for a spread


class Line(NamedTuple):
    name: str
    size: int
    value: float
    unit: str


class RunFailed(Exception):
    """With its output if only its exit is missing: every line is a valid figure."""

    def __init__(self, why, printed=b""):
        super().__init__(why)
        self.lines = parse(printed.decode(errors="replace"))


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


def startup_times(output, begin, ranks):
    """Seconds from the launcher's start until the last rank had left MPI_Init."""
    lines = [line.split() for line in output.splitlines() if line.startswith("startup ")]
    if len(lines) != ranks:
        raise RunFailed(f"{len(lines)} of {ranks} ranks answered")
    return [Line("startup", 0, (max(int(line[4]) for line in lines) - begin) / 1e9, "s")]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Figure:
    """One quantity measured with one library: a value per round. Without numbers the rounds are 1, 2, ..."""

    def __init__(self, unit, values=(), rounds=None):
        self.unit, self.values = unit, list(values)
        self.rounds = list(rounds) if rounds is not None else list(range(1, len(self.values) + 1))

    def add(self, value, round_number):
        self.values.append(value)
        self.rounds.append(round_number)

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

    def better_than(self, other):
        return self.median > other.median if self.higher_is_better else self.median < other.median

    def worse_than_twice(self, other):
        return 2 * self.median < other.median if self.higher_is_better else self.median > 2 * other.median

    def worst(self):
        return min(self.values) if self.higher_is_better else max(self.values)


def paired_ratios(figure, reference):
    """Ratios of the values of the same round, which were measured next to each other: what slows down a whole round cancels."""
    of_round = dict(zip(reference.rounds, reference.values))
    return [value / of_round[number] for number, value in zip(figure.rounds, figure.values) if of_round.get(number)]


class Results:
    """Figures by library and key."""

    def __init__(self):
        self.libraries = {}

    def add(self, library, ranks, line, round_number=None):
        """Without a number the round is the next one of the figure."""
        figure = self.libraries.setdefault(library, {}).setdefault(Key(line.name, ranks, line.size), Figure(line.unit))
        figure.add(line.value, round_number or len(figure.rounds) + 1)

    def figure(self, library, key):
        return self.libraries.get(library, {}).get(key)

    def keys(self):
        """All keys, in the order of their first measurement."""
        return list(dict.fromkeys(key for figures in self.libraries.values() for key in figures))

    def as_json(self):
        return [{"library": library, "name": key.name, "ranks": key.ranks, "size": key.size, "unit": figure.unit,
                 "median": figure.median, "spread": figure.spread, "values": figure.values, "rounds": figure.rounds}
                for library, figures in self.libraries.items() for key, figure in figures.items()]
