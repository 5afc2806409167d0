# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of a comparison of ours with ours: one column for each value of an environment variable."""
from . import bars
from .figures import geometric_mean

NONE = "-"
NOTE = ("Medians of the default, then each variant in parts of it. A ratio with ? is not measured: figures lie too far apart. "
        "Means are geometric, over all patterns that have a ratio.")


def ratio(results, variant, key, most_spread):
    """A variant in parts of the default, and whether both are steady; None without both."""
    default, figure = results.figure(bars.OURS, key), results.figure(variant, key)
    if default is None or figure is None or default.median == 0:
        return None
    return figure.median / default.median, default.steady(most_spread) and figure.steady(most_spread)


def ratio_text(found):
    return NONE if found is None else f"{found[0]:.2f}" + ("" if found[1] else " ?")


def default_text(figure):
    if figure is None:
        return NONE
    return f"{figure.median:.4g}" + (f" \u00b1{figure.spread:.0%}" if figure.spread is not None else "")


def means(results, names, keys, ranks, most_spread):
    row = ["mean", str(ranks), ""]
    for name in names:
        found = [ratio(results, name, key, most_spread) for key in keys if key.ranks == ranks]
        ratios = [pair[0] for pair in found if pair]
        row.append(f"{geometric_mean(ratios):.2f}" if ratios else NONE)
    return row


def rows(comparison):
    results, most_spread = comparison["results"], comparison["table"]["most_spread"]
    names = [library["key"] for library in comparison["libraries"] if library["key"] != bars.OURS]
    keys = sorted(results.keys(), key=lambda key: (key.name, key.size, key.ranks))
    table = [["pattern", "ranks", "default", *names]]
    for key in keys:
        name = key.name.removeprefix("pattern_") + (f" {key.size}" if key.size else "")
        default = results.figure(bars.OURS, key)
        unit = f" {default.unit}" if default else ""
        table.append([name, str(key.ranks), default_text(default) + unit,
                      *(ratio_text(ratio(results, variant, key, most_spread)) for variant in names)])
    return table + [means(results, names, keys, ranks, most_spread) for ranks in sorted({key.ranks for key in keys})]
