# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of a comparison of zipmpi with zipmpi: one column per value of an environment variable."""
from . import targets
from .stats import geometric_mean

NONE = "-"
NOTE = ("Medians of the default, then each variant relative to it. A ratio with ? is inconclusive: the spread is too large. "
        "Means are geometric, over all patterns that have a ratio.")


def ratio(results, variant, key, max_spread):
    """A variant relative to the default, and whether both are steady; None without both."""
    default, figure = results.figure(targets.ZIPMPI, key), results.figure(variant, key)
    if default is None or figure is None or default.median == 0:
        return None
    return figure.median / default.median, default.steady(max_spread) and figure.steady(max_spread)


def ratio_text(found):
    return NONE if found is None else f"{found[0]:.2f}" + ("" if found[1] else " ?")


def default_text(figure):
    if figure is None:
        return NONE
    return f"{figure.median:.4g}" + (f" \u00b1{figure.spread:.0%}" if figure.spread is not None else "")


def means(results, names, keys, ranks, max_spread):
    row = ["mean", str(ranks), ""]
    for name in names:
        found = [ratio(results, name, key, max_spread) for key in keys if key.ranks == ranks]
        ratios = [pair[0] for pair in found if pair]
        row.append(f"{geometric_mean(ratios):.2f}" if ratios else NONE)
    return row


def rows(comparison):
    results, max_spread = comparison["results"], comparison["table"]["max_spread"]
    names = [library["key"] for library in comparison["libraries"] if library["key"] != targets.ZIPMPI]
    keys = sorted(results.keys(), key=lambda key: (key.name, key.size, key.ranks))
    table = [["pattern", "ranks", "default", *names]]
    for key in keys:
        name = key.name.removeprefix("pattern_") + (f" {key.size}" if key.size else "")
        default = results.figure(targets.ZIPMPI, key)
        unit = f" {default.unit}" if default else ""
        table.append([name, str(key.ranks), default_text(default) + unit,
                      *(ratio_text(ratio(results, variant, key, max_spread)) for variant in names)])
    return table + [means(results, names, keys, ranks, max_spread) for ranks in sorted({key.ranks for key in keys})]
