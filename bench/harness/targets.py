# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates the performance targets of targets.toml. Inconclusive measurements never count as met."""
import os
import tomllib
from typing import NamedTuple, Optional

from .stats import Key, geometric_mean

MET, MISSED, INCONCLUSIVE = "met", "missed", "inconclusive"
ZIPMPI, BASELINE, UCX, BEST_PEER = "zipmpi", "baseline", "ucx", "best peer"
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "targets.toml")
KNOWN = {"number", "text", "set", "figure", "ranks", "sizes", "points", "reference", "reference_figure",
         "reference_without", "reference_ranks", "reference_size", "rule", "at_most", "at_least"}


class Inconclusive(Exception):
    pass


class Point(NamedTuple):
    """One comparison: the ratio to the reference, or the reason for its absence."""
    key: Key
    ratio: Optional[float]
    why: str = ""


class Verdict(NamedTuple):
    target: dict
    outcome: str
    points: list
    mean: Optional[float]
    why: str


def load(path=FILE):
    with open(path, "rb") as file:
        table = tomllib.load(file)
    for target in table["target"]:
        unknown = set(target) - KNOWN
        if unknown or ("at_most" in target) == ("at_least" in target):
            raise ValueError(f"{path}: target {target.get('number')}: unknown words {sorted(unknown)}, or not exactly one of "
                             "at_most and at_least")
    return table


def percent(spread):
    return "too few rounds" if spread is None else f"{spread:.0%}"


def best_peer(results, key, peers, max_spread):
    """Name and figure of the best peer. Inconclusive if one is missing, or so unsteady that it may be the best."""
    figures = {}
    for peer in peers:
        figures[peer] = results.figure(peer, key)
        if figures[peer] is None:
            raise Inconclusive(f"{peer} has no figure")
    name = peers[0]
    for peer in peers[1:]:
        if figures[peer].better_than(figures[name]):
            name = peer
    best = figures[name]
    for peer, figure in figures.items():
        at_its_best = figure.better_quartile()
        may_win = at_its_best > best.median if best.higher_is_better else at_its_best < best.median
        if not figure.steady(max_spread) and (peer == name or may_win):
            raise Inconclusive(f"spread of {peer} is {percent(figure.spread)}")
    return name, best


def reference_of(results, target, key, table):
    if target["reference"] == BEST_PEER:
        return best_peer(results, key, table["peers"], table["max_spread"])[1]
    name = target.get("reference_figure", key.name.removeprefix(target.get("reference_without", "")))
    where = Key(name, target.get("reference_ranks", key.ranks), target.get("reference_size", key.size))
    figure = results.figure(target["reference"], where)
    if figure is None:
        raise Inconclusive(f"{where.name} of {target['reference']} is missing")
    if not figure.steady(table["max_spread"]):
        raise Inconclusive(f"spread of {where.name} of {target['reference']} is {percent(figure.spread)}")
    return figure


def compare(results, target, key, table):
    zipmpi = results.figure(ZIPMPI, key)
    if zipmpi is None:
        raise Inconclusive("no figure of zipmpi")
    if "reference" not in target:
        return zipmpi.worst()
    reference = reference_of(results, target, key, table)
    if not zipmpi.steady(table["max_spread"]):
        raise Inconclusive(f"spread of zipmpi is {percent(zipmpi.spread)}")
    return zipmpi.median / reference.median


def keys_of(target, table):
    """The points of a target: its figure at each of its sizes, or all of a list of points."""
    sizes_of = table["points"][target["points"]] if "points" in target else {target["figure"]: target["sizes"]}
    return [Key(figure, ranks, size) for ranks in target["ranks"] for figure, sizes in sizes_of.items() for size in sizes]


def meets(target, ratio):
    return ratio <= target["at_most"] if "at_most" in target else ratio >= target["at_least"]


def evaluate(results, target, table):
    points = []
    for key in keys_of(target, table):
        try:
            points.append(Point(key, compare(results, target, key, table)))
        except Inconclusive as reason:
            points.append(Point(key, None, str(reason)))
    ratios = [point.ratio for point in points if point.ratio is not None]
    open_points = [point for point in points if point.ratio is None]
    why = f"{len(open_points)} of {len(points)} points: {open_points[0].why}" if open_points else ""
    if target.get("rule") == "geometric mean":
        mean = geometric_mean(ratios) if ratios else None
        outcome = INCONCLUSIVE if open_points else MET if meets(target, mean) else MISSED
        return Verdict(target, outcome, points, mean, why)
    if not all(meets(target, ratio) for ratio in ratios):
        return Verdict(target, MISSED, points, None, why)
    return Verdict(target, INCONCLUSIVE if open_points else MET, points, None, why)


def evaluate_all(results, table, sets):
    """The verdicts on the targets of these suites."""
    return [evaluate(results, target, table) for target in table["target"] if target["set"] in sets]


def limit_of(results, key, table):
    """The baseline figure for a figure, if there is one."""
    for limit in table["limit"]:
        if limit["figure"] == key.name and key.size <= limit.get("most", key.size):
            where = Key(limit["reference"], 2, limit.get("reference_size", key.size))
            figure = results.figure(limit.get("library", BASELINE), where)
            if figure is not None:
                return figure
    return None
