# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates the performance targets of targets.toml by the 95 % interval of the median ratio: met if all of it is on the right
side of the limit, missed if all of it is on the other, else open."""
import os
import tomllib
from typing import NamedTuple, Optional

from . import intervals
from .intervals import Interval
from .stats import Key, paired_ratios

MET, MISSED, OPEN, NO_PAIRS = "met", "missed", "open", "no pairs"
ZIPMPI, BASELINE, UCX, BEST_PEER = "zipmpi", "baseline", "ucx", "best peer"
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "targets.toml")
KNOWN = {"number", "text", "set", "figure", "ranks", "sizes", "points", "group", "reference", "reference_figure",
         "reference_without", "reference_ranks", "reference_size", "rule", "busy", "at_most", "at_least"}


class NoPairs(Exception):
    """No two runs of a round can be compared."""


class Point(NamedTuple):
    """One comparison: the interval of the ratio to the reference and the ratios themselves, or the reason for their absence."""
    key: Key
    ratio: Optional[Interval]
    pairs: tuple = ()
    why: str = ""


class Verdict(NamedTuple):
    target: dict
    outcome: str
    points: list
    mean: Optional[Interval]
    why: str


def check(path, target):
    unknown = set(target) - KNOWN
    if unknown or ("at_most" in target) == ("at_least" in target):
        raise ValueError(f"{path}: target {target.get('number')}: unknown words {sorted(unknown)}, or not exactly one of "
                         "at_most and at_least")


def load(path=FILE):
    with open(path, "rb") as file:
        table = tomllib.load(file)
    for target in table["target"]:
        check(path, target)
    return table


def best_peer(results, key, peers):
    """Name and figure of the peer with the best median at a point. NoPairs if no peer has a figure."""
    figures = {peer: figure for peer in peers if (figure := results.figure(peer, key))}
    if not figures:
        raise NoPairs("no peer has a figure")
    best = next(iter(figures))
    for peer, figure in figures.items():
        if figure.better_than(figures[best]):
            best = peer
    return best, figures[best]


def ratio_to_best_peer(results, key, peers):
    """The ratios of neighboring runs, their interval and the name of the peer; None without pairs."""
    zipmpi = results.figure(ZIPMPI, key)
    try:
        name, peer = best_peer(results, key, peers)
    except NoPairs:
        return None
    pairs = paired_ratios(zipmpi, peer) if zipmpi else ()
    return (pairs, intervals.of_median(pairs), name) if pairs else None


def reference_of(results, target, key, table):
    if target["reference"] == BEST_PEER:
        return best_peer(results, key, table["peers"])[1]
    name = target.get("reference_figure", key.name.removeprefix(target.get("reference_without", "")))
    where = Key(name, target.get("reference_ranks", key.ranks), target.get("reference_size", key.size))
    figure = results.figure(target["reference"], where)
    if figure is None:
        raise NoPairs(f"{where.name} of {target['reference']} is missing")
    return figure


def compare(results, target, key, table):
    zipmpi = results.figure(ZIPMPI, key)
    if zipmpi is None:
        raise NoPairs("no figure of zipmpi")
    if "reference" not in target:
        return Point(key, Interval(zipmpi.worst(), zipmpi.worst(), zipmpi.worst(), intervals.MIN_PAIRS))
    pairs = paired_ratios(zipmpi, reference_of(results, target, key, table))
    if not pairs:
        raise NoPairs("no round has both figures")
    return Point(key, intervals.of_median(pairs), pairs)


def keys_of(target, table):
    """The points of a target: its figure at each of its sizes, all of a list of points, or a group of applications."""
    if "group" in target:
        return [key for key in table["groups"].get(target["group"], ()) if key.ranks in target["ranks"]]
    sizes_of = table["points"][target["points"]] if "points" in target else {target["figure"]: target["sizes"]}
    return [Key(figure, ranks, size) for ranks in target["ranks"] for figure, sizes in sizes_of.items() for size in sizes]


def meets(target, ratio):
    return ratio <= target["at_most"] if "at_most" in target else ratio >= target["at_least"]


def outcome_of(target, interval):
    """By where the interval lies. Too few pairs decide nothing."""
    ends = {meets(target, interval.low), meets(target, interval.high)}
    if not interval.enough or len(ends) > 1:
        return OPEN
    return MET if ends == {True} else MISSED


def together(outcomes):
    """One missed point decides; otherwise all must be met."""
    for outcome in (MISSED, OPEN, NO_PAIRS):
        if outcome in outcomes:
            return outcome if outcome != NO_PAIRS or set(outcomes) == {NO_PAIRS} else OPEN
    return MET if outcomes else NO_PAIRS


def evaluate(results, target, table):
    points = []
    for key in keys_of(target, table):
        try:
            points.append(compare(results, target, key, table))
        except NoPairs as reason:
            points.append(Point(key, None, why=str(reason)))
    found, absent = [point for point in points if point.ratio], [point for point in points if not point.ratio]
    why = f"{len(absent)} of {len(points)} points: {absent[0].why}" if absent else ""
    if target.get("rule") == "geometric mean":
        mean = intervals.of_geometric_mean([point.pairs for point in found]) if found else None
        outcomes = [outcome_of(target, mean)] if mean and not absent else [NO_PAIRS if not found else OPEN]
        return Verdict(target, together(outcomes), points, mean, why)
    outcomes = [outcome_of(target, point.ratio) for point in found] + [NO_PAIRS] * len(absent)
    return Verdict(target, together(outcomes), points, None, why)


def evaluate_all(results, table, sets, busy="no"):
    """The verdicts on the targets of these suites that are meant for this kind of other work on the machine."""
    return [evaluate(results, target, table) for target in table["target"]
            if target["set"] in sets and target.get("busy", "no") == busy]


def limit_of(results, key, table):
    """The baseline figure for a figure, if there is one."""
    for limit in table["limit"]:
        if limit["figure"] == key.name and key.size <= limit.get("most", key.size):
            where = Key(limit["reference"], 2, limit.get("reference_size", key.size))
            figure = results.figure(limit.get("library", BASELINE), where)
            if figure is not None:
                return figure
    return None
