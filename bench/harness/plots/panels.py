# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""One-sided communication: pictures of several panels, each one figure over sizes, microseconds or ranks, with a line per
library."""
import os
from typing import NamedTuple, Tuple

from ..stats import Figure
from . import svg
from .axes import STYLES, Axes, Box, Series, draw_grid, draw_legend, draw_line, legend, size_label

WIDE, HIGH, HEAD = 400, 300, 44  # size of a panel; height of the title
LEFT, RIGHT, TOP, BOTTOM = 76, 28, 34, 52  # margins around the axes of a panel
BYTES, MICROSECONDS, RANKS = "bytes", "microseconds of computing at a time", "ranks"
UNITS = {"us": "us, less is better", "s": "s, less is better", "MB/s": "MB/s, more is better", "M/s": "millions/s, more is better",
         "k/s": "thousands/s, more is better", "%hidden": "% hidden, more is better", "x": "times as long, less is better"}
WAYS = (("fence", "fences"), ("post_start", "post and start"), ("lock", "exclusive lock"), ("flush", "flush, lock kept"))
BORDERS = (("fence", "fences"), ("post_start", "post and start"), ("flush", "flushes and a barrier"), ("messages", "messages"))
FORMS = (("get_modify_put", "get, change, put"), ("accumulate", "accumulate and flush"), ("fetch_and_op", "fetch and op"),
         ("aggregated", "accumulates, one flush"))


class Panel(NamedTuple):
    title: str
    figure: str
    along: str = BYTES


class Picture(NamedTuple):
    file: str
    title: str
    columns: int
    panels: Tuple[Panel, ...]


PICTURES = (
    Picture("epochs", "An epoch with one put", 2, tuple(Panel(title, f"epoch_{way}") for way, title in WAYS)),
    Picture("epoch_bandwidth", "Epochs of 64 puts", 2, tuple(Panel(title, f"epoch_bandwidth_{way}") for way, title in WAYS)),
    Picture("epoch_overlap", "Fraction of an epoch hidden behind computation at the origin", 2,
            tuple(Panel(title, f"epoch_hidden_{way}") for way, title in WAYS)),
    Picture("busy_targets", "Targets and neighbors that compute", 3,
            (Panel("lock, get 8 bytes, unlock", "access_working", MICROSECONDS),
             Panel("slowdown of the target", "slowed_working", MICROSECONDS),
             Panel("a ring step beyond its computation", "ring_beyond", MICROSECONDS))),
    Picture("lock_contention", "One lock, contended by all ranks but one", 2,
            (Panel("exclusive", "locks_exclusive", RANKS), Panel("one in eight exclusive", "locks_mixed", RANKS))),
    Picture("fences", "Fences", 3, (Panel("alone", "fence_alone", RANKS), Panel("one put of 16 bytes", "fence_1", RANKS),
                                    Panel("puts to eight others", "fence_8", RANKS))),
    Picture("halo", "Borders put to neighbors", 4,
            tuple(Panel(f"{count} neighbors, {title}", f"halo_{way}_{count}") for count in (4, 8) for way, title in BORDERS)),
    Picture("updates", "Random updates of a table", 4, tuple(Panel(title, f"updates_{form}", RANKS) for form, title in FORMS)),
    Picture("programs", "Programs", 3, (Panel("tasks, a counter for each two ranks", "tasks", RANKS),
                                        Panel("tasks, one counter", "tasks_flat", RANKS), Panel("LU factorization", "lu", RANKS))),
)


def points_of(results, library, panel):
    """Over sizes: for the largest measured number of ranks."""
    found = [e for e in results["figures"] if (e["library"], e["name"]) == (library, panel.figure) and e["values"]]
    most = max((e["ranks"] for e in results["figures"] if e["name"] == panel.figure), default=0)
    points = {}
    for entry in found:
        figure = Figure(entry["unit"], entry["values"])
        low, high = figure.quartiles() if len(figure.values) > 1 else (figure.median, figure.median)
        if panel.along == RANKS:
            points[entry["ranks"]] = (figure.median, low, high)
        elif entry["ranks"] == most:
            points[entry["size"]] = (figure.median, low, high)
    positive = found and found[0]["unit"] != "%hidden"
    return {at: point for at, point in sorted(points.items()) if min(point) > 0 or not positive}


def lines_of(results, panel):
    libraries = sorted((library for library in results["libraries"] if library["key"] in STYLES and library["key"] != "baseline"),
                       key=lambda library: library["key"] == "zipmpi")
    lines = [Series(library["key"], library["title"], points_of(results, library["key"], panel)) for library in libraries]
    return [line for line in lines if line.points]


def most_ranks(results, panel):
    return max(entry["ranks"] for entry in results["figures"] if entry["name"] == panel.figure)


def draw_panel(canvas, panel, lines, unit, corner, ranks):
    left, top = corner
    box = Box(left + LEFT, top + TOP, left + WIDE - RIGHT, top + HIGH - BOTTOM)
    axes = Axes(lines, box, unit == "%hidden")
    canvas.text(box.left, top + 20, panel.title, 14)
    ticks = sorted({at for line in lines for at in line.points})
    draw_grid(canvas, axes, ticks, size_label if panel.along == BYTES else str, 11)
    along = panel.along if panel.along == RANKS else f"{panel.along}, {ranks} ranks"
    canvas.text((box.left + box.right) / 2, box.bottom + 38, along, 12, align="middle")
    canvas.text(left + 20, (box.top + box.bottom) / 2, UNITS.get(unit, unit), 12, align="middle", upwards=True)
    for line in lines:
        draw_line(canvas, axes, line)


def draw(results, picture, where, path):
    """Draws nothing if nothing was measured."""
    units = {entry["name"]: entry["unit"] for entry in results["figures"]}
    found = [(panel, lines) for panel in picture.panels if (lines := lines_of(results, panel))]
    if not found:
        return
    rows = -(-len(found) // picture.columns)
    width, height = WIDE * min(picture.columns, len(found)), HEAD + HIGH * rows + 12
    named = {line.title: line for _, lines in found for line in lines}
    places, below = legend(list(named.values()), width, height)
    canvas = svg.Canvas(width, height + below)
    canvas.text(20, 28, f"{picture.title}: {where}", 17)
    for index, (panel, lines) in enumerate(found):
        corner = (WIDE * (index % picture.columns), HEAD + HIGH * (index // picture.columns))
        draw_panel(canvas, panel, lines, units[panel.figure], corner, most_ranks(results, panel))
    draw_legend(canvas, places)
    canvas.save(path)


def draw_all(results, where, folder):
    for picture in PICTURES:
        draw(results, picture, where, os.path.join(folder, picture.file + ".svg"))
