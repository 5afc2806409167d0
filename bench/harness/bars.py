# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether what was measured reaches the bars of bars.toml. What was not measured well is never called held."""
import os
import tomllib
from typing import NamedTuple, Optional

from .figures import Key, geometric_mean

HELD, MISSED, NOT_MEASURED = "held", "missed", "not measured"
OURS, BARE, UCX, BEST_PEER = "ours", "bare", "ucx", "best peer"
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bars.toml")
KNOWN = {"number", "text", "set", "figure", "ranks", "sizes", "points", "reference", "reference_figure",
         "reference_without", "reference_ranks", "reference_size", "rule", "at_most", "at_least"}


class NotMeasured(Exception):
    pass


class Point(NamedTuple):
    """One comparison: the ratio to the reference, or why there is none."""
    key: Key
    ratio: Optional[float]
    why: str = ""


class Verdict(NamedTuple):
    bar: dict
    outcome: str
    points: list
    mean: Optional[float]
    why: str


def load(path=FILE):
    with open(path, "rb") as file:
        table = tomllib.load(file)
    for bar in table["bar"]:
        unknown = set(bar) - KNOWN
        if unknown or ("at_most" in bar) == ("at_least" in bar):
            raise ValueError(f"{path}: bar {bar.get('number')}: unknown words {sorted(unknown)}, or not exactly one of "
                             "at_most and at_least")
    return table


def percent(spread):
    return "too few rounds" if spread is None else f"{spread:.0%}"


def best_peer(results, key, peers, most_spread):
    """Name and figure of the best peer. NotMeasured if one is missing, or so unsteady that it may be the best."""
    figures = {}
    for peer in peers:
        figures[peer] = results.figure(peer, key)
        if figures[peer] is None:
            raise NotMeasured(f"{peer} has no figure")
    name = peers[0]
    for peer in peers[1:]:
        if figures[peer].better_than(figures[name]):
            name = peer
    best = figures[name]
    for peer, figure in figures.items():
        at_its_best = figure.better_quartile()
        may_win = at_its_best > best.median if best.higher_is_better else at_its_best < best.median
        if not figure.steady(most_spread) and (peer == name or may_win):
            raise NotMeasured(f"spread of {peer} is {percent(figure.spread)}")
    return name, best


def reference_of(results, bar, key, table):
    if bar["reference"] == BEST_PEER:
        return best_peer(results, key, table["peers"], table["most_spread"])[1]
    name = bar.get("reference_figure", key.name.removeprefix(bar.get("reference_without", "")))
    where = Key(name, bar.get("reference_ranks", key.ranks), bar.get("reference_size", key.size))
    figure = results.figure(bar["reference"], where)
    if figure is None:
        raise NotMeasured(f"{where.name} of {bar['reference']} is missing")
    if not figure.steady(table["most_spread"]):
        raise NotMeasured(f"spread of {where.name} of {bar['reference']} is {percent(figure.spread)}")
    return figure


def compare(results, bar, key, table):
    ours = results.figure(OURS, key)
    if ours is None:
        raise NotMeasured("no figure of ours")
    if "reference" not in bar:
        return ours.worst()
    reference = reference_of(results, bar, key, table)
    if not ours.steady(table["most_spread"]):
        raise NotMeasured(f"spread of ours is {percent(ours.spread)}")
    return ours.median / reference.median


def keys_of(bar, table):
    """What a bar looks at: its figure at each of its sizes, or all of a list of points."""
    sizes_of = table["points"][bar["points"]] if "points" in bar else {bar["figure"]: bar["sizes"]}
    return [Key(figure, ranks, size) for ranks in bar["ranks"] for figure, sizes in sizes_of.items() for size in sizes]


def reaches(bar, ratio):
    return ratio <= bar["at_most"] if "at_most" in bar else ratio >= bar["at_least"]


def judge(results, bar, table):
    points = []
    for key in keys_of(bar, table):
        try:
            points.append(Point(key, compare(results, bar, key, table)))
        except NotMeasured as reason:
            points.append(Point(key, None, str(reason)))
    ratios = [point.ratio for point in points if point.ratio is not None]
    open_points = [point for point in points if point.ratio is None]
    why = f"{len(open_points)} of {len(points)} points: {open_points[0].why}" if open_points else ""
    if bar.get("rule") == "geometric mean":
        mean = geometric_mean(ratios) if ratios else None
        outcome = NOT_MEASURED if open_points else HELD if reaches(bar, mean) else MISSED
        return Verdict(bar, outcome, points, mean, why)
    if not all(reaches(bar, ratio) for ratio in ratios):
        return Verdict(bar, MISSED, points, None, why)
    return Verdict(bar, NOT_MEASURED if open_points else HELD, points, None, why)


def judge_all(results, table, sets):
    """The verdicts on the bars of these sets."""
    return [judge(results, bar, table) for bar in table["bar"] if bar["set"] in sets]


def limit_of(results, key, table):
    """The figure of the bare machine that stands beside a figure, if there is one."""
    for limit in table["limit"]:
        if limit["figure"] == key.name and key.size <= limit.get("most", key.size):
            where = Key(limit["reference"], 2, limit.get("reference_size", key.size))
            figure = results.figure(limit.get("library", BARE), where)
            if figure is not None:
                return figure
    return None
