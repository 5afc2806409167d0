#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: draw_charts.py [--check]
Draws applications.svg and latency.svg from the tables of applications.md and within_node.md; --check only compares."""
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
STYLE = ("<style>text{font:13px sans-serif;fill:#24292f}.t{font-weight:bold;font-size:15px}.s{font-size:11px;fill:#57606a}"
         ".r{text-anchor:end}.m{text-anchor:middle}.g{stroke:#d0d7de}.z{fill:#0969da}</style>")
COLORS = {"ZipMPI": "#0969da", "Open MPI": "#cf222e", "Open MPI ucx": "#8250df", "MPICH": "#57606a"}


def table_below(page, heading):
    """Rows of the first table after a heading, as lists of cells."""
    text = (HERE / page).read_text(encoding="utf-8")
    lines = text[text.index(heading):].splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[0], rows[2:]


def svg(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{title}"><rect width="{width}" height="{height}" fill="#ffffff"/>{STYLE}\n' + "\n".join(body) + "\n</svg>\n")


def applications():
    _, rows = table_below("applications.md", "# Applications")
    left, scale, step = 300, 420, 20
    title = "Time of applications, relative to the better of Open MPI and MPICH"
    body = [f'<text class="t" x="16" y="24">{title}</text>',
            '<text class="s" x="16" y="42">wall time including startup, 2 cores; the last number is that of ranks; shorter is better, 1 is the best peer</text>']
    top = 60
    for mark in (0.25, 0.5, 0.75, 1):
        x = left + mark * scale
        body.append(f'<line class="g" x1="{x:.0f}" y1="{top}" x2="{x:.0f}" y2="{top + step * len(rows)}"/>'
                    f'<text class="s m" x="{x:.0f}" y="{top + step * len(rows) + 14}">{mark}</text>')
    for i, row in enumerate(rows):
        name, ratio = re.sub(r"\s*\(.*?\)", "", row[0]), float(row[-1])
        y = top + i * step
        body.append(f'<text class="r" x="{left - 8}" y="{y + 15}">{name}</text>'
                    f'<rect class="z" x="{left}" y="{y + 3}" width="{ratio * scale:.0f}" height="{step - 6}"/>'
                    f'<text class="s" x="{left + ratio * scale + 5:.0f}" y="{y + 14}">{ratio:.2f}</text>')
    return svg(left + scale + 60, top + step * len(rows) + 26, title, body)


def bytes_of(text):
    number, _, unit = text.partition(" ")
    return int(number) * {"": 1, "Ki": 1024, "Mi": 1 << 20}[unit]


def latency():
    head, rows = table_below("within_node.md", "### Half round trip, us, 2 ranks")
    libraries = [name for name in head if name in COLORS]
    points = {name: [(bytes_of(row[0]), float(row[head.index(name)].split()[0])) for row in rows if bytes_of(row[0]) > 0]
              for name in libraries}
    left, top, width, height = 60, 60, 560, 300
    x_most = math.log2(max(size for size, _ in points["ZipMPI"]))
    every = [time for line in points.values() for _, time in line]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
    place = lambda size, time: (left + width * math.log2(size) / x_most, top + height * (high - math.log10(time)) / (high - low))
    title = "Half round trip between two ranks of a node"
    body = [f'<text class="t" x="16" y="24">{title}</text>',
            '<text class="s" x="16" y="42">microseconds by message size in bytes, both logarithmic; lower is better</text>']
    for power in range(low, high + 1):
        y = place(1, 10.0 ** power)[1]
        body.append(f'<line class="g" x1="{left}" y1="{y:.0f}" x2="{left + width}" y2="{y:.0f}"/>'
                    f'<text class="s r" x="{left - 6}" y="{y + 4:.0f}">{10.0 ** power:g}</text>')
    for size, name in ((1, "1"), (64, "64"), (1024, "1 Ki"), (1 << 16, "64 Ki"), (1 << 20, "1 Mi")):
        if math.log2(size) <= x_most:
            body.append(f'<text class="s m" x="{place(size, 1)[0]:.0f}" y="{top + height + 16}">{name}</text>')
    for i, name in enumerate(libraries):
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in (place(*point) for point in points[name]))
        body.append(f'<polyline points="{line}" fill="none" stroke="{COLORS[name]}" stroke-width="{3 if name == "ZipMPI" else 1.6}"/>'
                    f'<rect x="{left + 12}" y="{top + 8 + 18 * i}" width="14" height="4" fill="{COLORS[name]}"/>'
                    f'<text x="{left + 32}" y="{top + 15 + 18 * i}">{name}</text>')
    return svg(left + width + 30, top + height + 30, title, body)


def main():
    charts = {"applications.svg": applications(), "latency.svg": latency()}
    if "--check" in sys.argv:
        old = [name for name, text in charts.items() if (HERE / name).read_text(encoding="utf-8") != text]
        sys.exit(f"run docs/performance/draw_charts.py: {', '.join(old)} not up to date" if old else 0)
    for name, text in charts.items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
