# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elements of every picture: lines with a band between quartiles, axes, a legend."""
import math
from typing import NamedTuple

WIDTH, HEIGHT = 860, 540
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 52, 62
# Colors that are safe for color-blind readers; zipmpi is drawn last and thickest.
STYLES = {"zipmpi": ("#d55e00", 3.2, ()), "openmpi": ("#0072b2", 1.8, ()), "openmpi_ucx": ("#56b4e9", 1.8, (7, 4)),
          "mpich": ("#009e73", 1.8, ()), "baseline": ("#777777", 1.6, (2, 4)), "baseline, other": ("#cc79a7", 1.6, (2, 4))}
LEGEND_STEP, LEGEND_SIGN, LEGEND_GAP, CHARACTER, FEW_TICKS = 22, 38, 28, 7.6, 8
GRID, FRAME = "#e4e4e4", "#888888"


class Series:
    def __init__(self, style, title, points):
        self.title, self.points = title, points  # size: (median, lower quartile, upper quartile)
        self.color, self.thick, self.dashes = STYLES[style] if isinstance(style, str) else style
        self.baseline = style in ("baseline", "baseline, other")


class Box(NamedTuple):
    """Position of a pair of axes on the canvas."""
    left: float
    top: float
    right: float
    bottom: float


WHOLE = Box(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM)


class Axes:
    """Maps sizes to x, logarithmically; size 0 is one step left of 1. Maps values to y, logarithmically, or as percentages."""

    def __init__(self, lines, box=WHOLE, shares=False):
        sizes = [size for line in lines for size in line.points]
        values = [value for line in lines for point in line.points.values() for value in point]
        self.box, self.shares = box, shares
        self.first, self.last = self.place(min(sizes)), max(self.place(max(sizes)), self.place(min(sizes)) + 1)
        self.low, self.high = (-3, 103) if shares else (math.log10(min(values)) - 0.06, math.log10(max(values)) + 0.06)

    @staticmethod
    def place(size):
        return math.log2(size) if size else -1.0

    def x(self, size):
        return self.box.left + (self.place(size) - self.first) / (self.last - self.first) * (self.box.right - self.box.left)

    def y(self, value):
        height = value if self.shares else math.log10(value)
        return self.box.bottom - (height - self.low) / (self.high - self.low) * (self.box.bottom - self.box.top)

    def value_ticks(self):
        if self.shares:
            yield from (0, 25, 50, 75, 100)
            return
        decades = self.high - self.low
        factors = (1, 2, 5) if 1.2 < decades <= 3 else (1,) if decades > 3 else (1, 1.5, 2, 3, 4, 5, 6, 8)
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for factor in factors:
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


def draw_grid(canvas, axes, ticks, label=size_label, letters=12):
    """ticks: sizes labeled along the axis."""
    box = axes.box
    for value in axes.value_ticks():
        canvas.chain([(box.left, axes.y(value)), (box.right, axes.y(value))], GRID)
        canvas.text(box.left - 8, axes.y(value) + 4, f"{value:g}" if value < 1e5 else f"{value:.0f}", letters, align="right")
    for size in ticks:
        canvas.chain([(axes.x(size), box.top), (axes.x(size), box.bottom)], GRID)
        canvas.text(axes.x(size), box.bottom + 18, label(size), letters, align="middle")
    canvas.chain([(box.left, box.top), (box.left, box.bottom), (box.right, box.bottom)], FRAME, 1.2)


def draw_line(canvas, axes, line):
    places = [(axes.x(size), axes.y(point[0])) for size, point in line.points.items()]
    if not line.baseline and len(places) > 1:
        low = [(axes.x(size), axes.y(point[1])) for size, point in line.points.items()]
        high = [(axes.x(size), axes.y(point[2])) for size, point in line.points.items()]
        canvas.area(low + high[::-1], line.color, 0.12)
    canvas.chain(places, line.color, line.thick, line.dashes)
    for x, y in [] if line.baseline else places:
        canvas.disc(x, y, line.thick + 0.4, line.color)


def legend(lines, width=WIDTH, height=HEIGHT):
    """Below the picture, clear of all lines: (x, y, line), and its height. ZipMPI comes first."""
    x, y, places = LEFT, height, []
    for line in reversed(lines):
        wide = LEGEND_SIGN + len(line.title) * CHARACTER
        if x > LEFT and x + wide > width - RIGHT:
            x, y = LEFT, y + LEGEND_STEP
        places.append((x, y, line))
        x += wide + LEGEND_GAP
    return places, y + LEGEND_STEP - height


def draw_legend(canvas, places):
    for x, y, line in places:
        canvas.chain([(x, y), (x + LEGEND_SIGN - 8, y)], line.color, line.thick, line.dashes)
        canvas.text(x + LEGEND_SIGN, y + 4.5, line.title, 13)
