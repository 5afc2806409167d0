# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of a comparison of zipmpi with zipmpi: one column per value of an environment variable."""
from . import intervals, targets
from .stats import paired_ratios
from .tables import NONE, ratio_text

NOTE = ("Medians of the default, then each variant relative to it: the median of the ratios of runs next to each other, in "
        "parentheses its 95 % interval. Means are geometric, over all patterns that have a ratio.")


def paired_with_default(results, variant, key):
    default, figure = results.figure(targets.ZIPMPI, key), results.figure(variant, key)
    return paired_ratios(figure, default) if default and figure else []


def default_text(figure):
    if figure is None:
        return NONE
    return f"{figure.median:.4g}" + (f" \u00b1{figure.spread:.0%}" if figure.spread is not None else "")


def means(results, names, keys, ranks):
    row = ["mean", str(ranks), ""]
    for name in names:
        found = [pairs for key in keys if key.ranks == ranks if (pairs := paired_with_default(results, name, key))]
        row.append(ratio_text(intervals.of_geometric_mean(found)) if found else NONE)
    return row


def rows(comparison):
    results = comparison["results"]
    names = [library["key"] for library in comparison["libraries"] if library["key"] != targets.ZIPMPI]
    keys = sorted(results.keys(), key=lambda key: (key.name, key.size, key.ranks))
    table = [["pattern", "ranks", "default", *names]]
    for key in keys:
        name = key.name.removeprefix("pattern_") + (f" {key.size}" if key.size else "")
        default = results.figure(targets.ZIPMPI, key)
        unit = f" {default.unit}" if default else ""
        found = [paired_with_default(results, variant, key) for variant in names]
        table.append([name, str(key.ranks), default_text(default) + unit,
                      *(ratio_text(intervals.of_median(pairs)) if pairs else NONE for pairs in found)])
    return table + [means(results, names, keys, ranks) for ranks in sorted({key.ranks for key in keys})]
