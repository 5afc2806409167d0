# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Latency and bandwidth over message size, all libraries in one picture: lines through the medians, a band between quartiles.
For variants of zipmpi: each variant relative to the default over the number of ranks, the mean of all patterns, a band from the
best to the worst of them. All axes are logarithmic. Uses results.json only:

One-sided communication has separate pictures (panels.py).

    python3 -m harness.plots.chart results.json DIR       (in bench/)"""
import json
import os
import sys

from ..stats import Figure, geometric_mean
from ..suites import ONESIDED, OVER_HOSTS
from . import panels, png, svg
from .axes import BOTTOM, HEIGHT, LEFT, RIGHT, STYLES, TOP, WIDTH, Axes, Series, draw_grid, draw_legend, draw_line, legend

OF_VARIANTS = (("#0072b2", 2.2, ()), ("#009e73", 2.2, (7, 4)), ("#cc79a7", 2.2, ()), ("#d55e00", 2.2, (2, 4)), ("#56b4e9", 2.2, ()))
# Location of the ranks, and the baseline lines for latency and bandwidth: library, figure, title.
ONE_NODE = ("one node", [("baseline", "line_ping_pong", "baseline: cache-line ping-pong")],
            [("baseline", "vm_readv", "baseline: process_vm_readv"), ("baseline", "memfd_copy", "baseline: copy from a memfd")])
HOSTS = ("two hosts", [("ucx", "ucx_am_latency", "baseline: active messages of UCX")],
         [("ucx", "ucx_am_bandwidth", "baseline: active messages of UCX")])


def series_of(results, library, name, title, style):
    points = {}
    for entry in results["figures"]:
        if (entry["library"], entry["name"], entry["ranks"]) == (library, name, 2) and entry["median"] > 0:
            figure = Figure(entry["unit"], entry["values"])
            low, high = figure.quartiles() if len(figure.values) > 1 else (figure.median, figure.median)
            points[entry["size"]] = (figure.median, low, high)
    if list(points) == [40]:
        points[0] = points[40]  # the cost of a cache line does not depend on its contents
    return Series(style, title, dict(sorted(points.items()))) if points else None


def series(results, name, baseline_lines):
    lines = [series_of(results, library, baseline, title, style)
             for (library, baseline, title), style in zip(baseline_lines, ("baseline", "baseline, other"))]
    peers = [library for library in results["libraries"] if library["key"] in STYLES and library["key"] not in ("zipmpi", "baseline")]
    zipmpi = [library for library in results["libraries"] if library["key"] == "zipmpi"]
    lines += [series_of(results, library["key"], name, library["title"], library["key"]) for library in peers + zipmpi]
    return [line for line in lines if line]


def variant_series(results, variant, style):
    """Time of a variant relative to the default, by ranks: mean, best and worst pattern."""
    medians = {(entry["library"], entry["ranks"], entry["name"], entry["size"]): entry["median"] for entry in results["figures"]}
    ratios = {}
    for (library, ranks, *what), value in medians.items():
        default = medians.get(("zipmpi", ranks, *what))
        if library == variant["key"] and default and value:
            ratios.setdefault(ranks, []).append(value / default)
    points = {ranks: (geometric_mean(found), min(found), max(found)) for ranks, found in sorted(ratios.items())}
    return Series(style, variant["title"], points) if points else None


def variants(results):
    others = [library for library in results["libraries"] if library["key"] != "zipmpi"]
    lines = [variant_series(results, variant, style) for variant, style in zip(others, OF_VARIANTS)]
    return [line for line in lines if line]


def draw_frame(canvas, axes, title, unit, along):
    canvas.text(LEFT, 28, title, 17)
    draw_grid(canvas, axes, axes.size_ticks())
    canvas.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, along, 13, align="middle")
    canvas.text(22, (TOP + HEIGHT - BOTTOM) / 2, unit, 13, align="middle", upwards=True)


def draw(lines, title, unit, path, along="bytes of a message", kinds=((svg, ".svg"), (png, ".png"))):
    if not lines:
        return
    axes = Axes(lines)
    places, below = legend(lines)
    for module, ending in kinds:
        canvas = module.Canvas(WIDTH, HEIGHT + below)
        draw_frame(canvas, axes, title, unit, along)
        for line in lines:
            draw_line(canvas, axes, line)
        draw_legend(canvas, places)
        canvas.save(path + ending)


def draw_all(results, folder):
    if results.get("vary"):
        draw(variants(results), results["vary"].partition("=")[0] + ": mean of all patterns, and the best and worst of them",
             "time / default, less is better", os.path.join(folder, "variants"), "ranks")
        return
    where, latency, bandwidth = HOSTS if results["set"] in OVER_HOSTS else ONE_NODE
    if results["set"] in ONESIDED:
        panels.draw_all(results, where, folder)
    draw(series(results, "latency", latency), f"Half round trip between two ranks on {where}", "microseconds, less is better",
         os.path.join(folder, "latency"))
    draw(series(results, "bandwidth", bandwidth), f"Bandwidth between two ranks on {where}, windows of 64 messages",
         "MB/s, more is better", os.path.join(folder, "bandwidth"))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        draw_all(json.load(source), sys.argv[2])
