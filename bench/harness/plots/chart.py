# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Latency and bandwidth over the size of messages, all libraries in one picture: lines through the medians, a band from
quartile to quartile. Where ours is compared with ours: each variant in parts of the default over the number of ranks, the
mean of all patterns, a band from the best to the worst of them. All axes are logarithmic. From results.json alone:

    python3 -m harness.plots.chart results.json DIR       (in bench/)"""
import json
import math
import os
import sys

from ..figures import Figure, geometric_mean
from . import png, svg

WIDTH, HEIGHT = 860, 540
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 52, 62
# Colours that people who see few colours can tell apart; ours is drawn last and thickest.
STYLES = {"ours": ("#d55e00", 3.2, ()), "openmpi": ("#0072b2", 1.8, ()), "openmpi_ucx": ("#56b4e9", 1.8, (7, 4)),
          "mpich": ("#009e73", 1.8, ()), "bare": ("#777777", 1.6, (2, 4)), "bare, other": ("#cc79a7", 1.6, (2, 4))}
OF_VARIANTS = (("#0072b2", 2.2, ()), ("#009e73", 2.2, (7, 4)), ("#cc79a7", 2.2, ()), ("#d55e00", 2.2, (2, 4)), ("#56b4e9", 2.2, ()))
# Where ranks are, and the lines of the bare machine beside latency and bandwidth: library, figure, title.
ONE_NODE = ("one node", [("bare", "line_ping_pong", "bare: one cache line to and fro")],
            [("bare", "vm_readv", "bare: process_vm_readv"), ("bare", "memfd_copy", "bare: copy out of a memfd")])
HOSTS = ("two hosts", [("ucx", "ucx_am_latency", "bare: active messages of UCX")],
         [("ucx", "ucx_am_bandwidth", "bare: active messages of UCX")])
LEGEND_STEP, LEGEND_SIGN, LEGEND_GAP, CHARACTER, FEW_TICKS = 22, 38, 28, 7.6, 8
GRID, FRAME = "#e4e4e4", "#888888"


class Series:
    def __init__(self, style, title, points):
        self.title, self.points = title, points  # size: (median, lower quartile, upper quartile)
        self.color, self.thick, self.dashes = STYLES[style] if isinstance(style, str) else style
        self.bare = style in ("bare", "bare, other")


def series_of(results, library, name, title, style):
    points = {}
    for entry in results["figures"]:
        if (entry["library"], entry["name"], entry["ranks"]) == (library, name, 2) and entry["median"] > 0:
            figure = Figure(entry["unit"], entry["values"])
            low, high = figure.quartiles() if len(figure.values) > 1 else (figure.median, figure.median)
            points[entry["size"]] = (figure.median, low, high)
    if list(points) == [40]:
        points[0] = points[40]  # one cache line costs the same, however little is in it
    return Series(style, title, dict(sorted(points.items()))) if points else None


def series(results, name, bare_lines):
    lines = [series_of(results, library, bare, title, style)
             for (library, bare, title), style in zip(bare_lines, ("bare", "bare, other"))]
    peers = [library for library in results["libraries"] if library["key"] in STYLES and library["key"] not in ("ours", "bare")]
    ours = [library for library in results["libraries"] if library["key"] == "ours"]
    lines += [series_of(results, library["key"], name, library["title"], library["key"]) for library in peers + ours]
    return [line for line in lines if line]


def variant_series(results, variant, style):
    """A variant's time in parts of the default's, by ranks: mean, best and worst pattern."""
    medians = {(entry["library"], entry["ranks"], entry["name"], entry["size"]): entry["median"] for entry in results["figures"]}
    ratios = {}
    for (library, ranks, *what), value in medians.items():
        default = medians.get(("ours", ranks, *what))
        if library == variant["key"] and default and value:
            ratios.setdefault(ranks, []).append(value / default)
    points = {ranks: (geometric_mean(found), min(found), max(found)) for ranks, found in sorted(ratios.items())}
    return Series(style, variant["title"], points) if points else None


def variants(results):
    others = [library for library in results["libraries"] if library["key"] != "ours"]
    lines = [variant_series(results, variant, style) for variant, style in zip(others, OF_VARIANTS)]
    return [line for line in lines if line]


class Axes:
    """Sizes to x, values to y. Size 0 stands one step left of 1."""

    def __init__(self, lines):
        sizes = [size for line in lines for size in line.points]
        values = [value for line in lines for point in line.points.values() for value in point]
        self.first, self.last = self.place(min(sizes)), max(self.place(max(sizes)), self.place(min(sizes)) + 1)
        self.low, self.high = math.log10(min(values)) - 0.06, math.log10(max(values)) + 0.06

    @staticmethod
    def place(size):
        return math.log2(size) if size else -1.0

    def x(self, size):
        return LEFT + (self.place(size) - self.first) / (self.last - self.first) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - (math.log10(value) - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)

    def value_ticks(self):
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for factor in (1, 2, 5) if self.high - self.low > 1.2 else (1, 1.5, 2, 3, 4, 5, 6, 8):
                if self.low <= math.log10(factor) + power <= self.high:
                    yield factor * 10.0 ** power

    def size_ticks(self):
        exponents = range(max(0, math.ceil(self.first)), math.floor(self.last) + 1)
        return ([0] if self.first < 0 else []) + [2 ** e for e in exponents if e % 2 == 0 or len(exponents) < FEW_TICKS]


def size_label(size):
    for unit, name in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if size >= unit:
            return f"{size // unit}{name}"
    return str(size)


def draw_frame(canvas, axes, title, unit, along):
    canvas.text(LEFT, 28, title, 17)
    for value in axes.value_ticks():
        canvas.chain([(LEFT, axes.y(value)), (WIDTH - RIGHT, axes.y(value))], GRID)
        canvas.text(LEFT - 8, axes.y(value) + 4, f"{value:g}" if value < 1e5 else f"{value:.0f}", 12, align="right")
    for size in axes.size_ticks():
        canvas.chain([(axes.x(size), TOP), (axes.x(size), HEIGHT - BOTTOM)], GRID)
        canvas.text(axes.x(size), HEIGHT - BOTTOM + 18, size_label(size), 12, align="middle")
    canvas.chain([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)], FRAME, 1.2)
    canvas.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, along, 13, align="middle")
    canvas.text(22, (TOP + HEIGHT - BOTTOM) / 2, unit, 13, align="middle", upwards=True)


def draw_line(canvas, axes, line):
    places = [(axes.x(size), axes.y(point[0])) for size, point in line.points.items()]
    if not line.bare and len(places) > 1:
        low = [(axes.x(size), axes.y(point[1])) for size, point in line.points.items()]
        high = [(axes.x(size), axes.y(point[2])) for size, point in line.points.items()]
        canvas.area(low + high[::-1], line.color, 0.12)
    canvas.chain(places, line.color, line.thick, line.dashes)
    for x, y in [] if line.bare else places:
        canvas.disc(x, y, line.thick + 0.4, line.color)


def legend(lines):
    """Below the picture, where no line can run through it: (x, y, line), and how high it is. Ours comes first."""
    x, y, places = LEFT, HEIGHT, []
    for line in reversed(lines):
        width = LEGEND_SIGN + len(line.title) * CHARACTER
        if x > LEFT and x + width > WIDTH - RIGHT:
            x, y = LEFT, y + LEGEND_STEP
        places.append((x, y, line))
        x += width + LEGEND_GAP
    return places, y + LEGEND_STEP - HEIGHT


def draw_legend(canvas, places):
    for x, y, line in places:
        canvas.chain([(x, y), (x + LEGEND_SIGN - 8, y)], line.color, line.thick, line.dashes)
        canvas.text(x + LEGEND_SIGN, y + 4.5, line.title, 13)


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
    where, latency, bandwidth = HOSTS if results["set"] == "cluster" else ONE_NODE
    draw(series(results, "latency", latency), f"Half round trip between two ranks on {where}", "microseconds, less is better",
         os.path.join(folder, "latency"))
    draw(series(results, "bandwidth", bandwidth), f"Bandwidth between two ranks on {where}, windows of 64 messages",
         "MB/s, more is better", os.path.join(folder, "bandwidth"))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        draw_all(json.load(source), sys.argv[2])
