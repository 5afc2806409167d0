#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: draw_charts.py [--check]
Draws the charts of these pages from their tables, as SVG for light and dark pages; --check only compares."""
import math
import pathlib
import re
import sys
from typing import NamedTuple, Optional

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = {"ZipMPI": "zipmpi", "Open MPI": "openmpi", "Open MPI ucx": "ucx", "MPICH": "mpich"}
# Colors that are safe for color-blind readers, for light and for dark pages.
COLORS = {"zipmpi": ("#0969da", "#58a6ff"), "openmpi": ("#d4622a", "#f0883e"), "ucx": ("#8250df", "#d2a8ff"),
          "mpich": ("#57606a", "#8b949e"), "a": ("#1a7f37", "#56d364"), "b": ("#bf8700", "#e3b341"), "c": ("#bf3989", "#ff9bce"), "d": ("#0a7ea4", "#39c5cf")}
OTHERS = ("openmpi", "ucx", "mpich", "a", "b", "c", "d")  # of lines that are not libraries
MIN_WIDTH = 720
CHARACTER = 7.2  # width of a letter
BYTES = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20}


class Bar(NamedTuple):
    """A speed relative to the best peer, its interval if known, and the heading above it."""
    label: str
    speed: float
    interval: Optional[tuple] = None
    heading: str = ""


class Place(NamedTuple):
    """Left, top, width and height of the axes of a chart."""
    left: float
    top: float
    width: float
    height: float


def style():
    def rules(index, text, soft, grid, page):
        colors = "".join(f".{name}{{fill:{pair[index]}}}.l{name}{{stroke:{pair[index]}}}" for name, pair in COLORS.items())
        return f"text{{fill:{text}}}.s{{fill:{soft}}}.g{{stroke:{grid}}}.e{{stroke:{text}}}.p{{fill:{page}}}{colors}"
    base = "text{font:13px sans-serif}.t{font-weight:bold;font-size:15px}.h{font-weight:bold}.s{font-size:11px}.r{text-anchor:end}.m{text-anchor:middle}"
    return (f"<style>{base}{rules(0, '#24292f', '#57606a', '#d0d7de', '#ffffff')}"
            f"@media(prefers-color-scheme:dark){{{rules(1, '#e6edf3', '#9aa4af', '#30363d', '#0d1117')}}}</style>")


def svg(width, height, title, subtitle, body):
    width = max(width, MIN_WIDTH)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'role="img" aria-label="{title}">{style()}<rect class="p" width="100%" height="100%"/>')
    titles = [f'<text class="t" x="16" y="24">{title}</text>', f'<text class="s" x="16" y="42">{subtitle}</text>']
    return "\n".join([head, *titles, *body, "</svg>"]) + "\n"


def table_below(page, heading):
    """The head and the rows of the first table after a heading, as lists of cells."""
    text = "\n" + (HERE / page).read_text(encoding="utf-8")
    lines = text[text.index(f"\n{heading}\n") + 1:].splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[0], rows[2:]


def number(cell):
    """The first number of a cell, or None."""
    found = re.match(r"\**([\d.]+(e-?\d+)?)", cell)
    return float(found[1]) if found else None


def interval_of(cell):
    found = re.match(r"[\d.e-]+ \(([\d.]+)-([\d.]+)\)$", cell)
    return (float(found[1]), float(found[2])) if found else None


def speed_of_time(label, cell, heading=""):
    """A bar for a ratio of times: the speed is its inverse."""
    interval = interval_of(cell)
    return Bar(label, 1 / number(cell), (1 / interval[1], 1 / interval[0]) if interval else None, heading)


def ticks_of_speed(low, high):
    wide = math.log10(high / low) > 2
    steps = [10.0 ** power for power in range(-3, 7)] if wide else [0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]
    if math.log10(high / low) > 0.9 and not wide:
        steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
    return [step for step in steps if low * 0.999 <= step <= high * 1.001]


def speed_text(speed):
    return f"{speed:.2f}" if speed < 10 else f"{speed:.0f}"


def speed_bars(title, subtitle, bars):
    """Bars from 1, the best peer: to the right faster, to the left slower. Logarithmic."""
    longest = max(len(text) for bar in bars for text in (bar.label, bar.heading))
    left, width, step, top = 40 + CHARACTER * longest, 440, 20, 62
    ends = [value for bar in bars for value in (bar.speed, *(bar.interval or ()))]
    low, high = min(0.7, min(ends) / 1.15), max(1.5, max(ends) * 1.15)

    def x(speed):
        return left + width * math.log(speed / low) / math.log(high / low)
    rows, y, heading = [], top, ""
    for bar in bars:
        if bar.heading != heading:
            heading = bar.heading
            rows.append(f'<text class="h" x="16" y="{y + 16}">{heading}</text>')
            y += step + 2
        ours = "zipmpi" if bar.speed >= 1 else "openmpi"
        begin, end = sorted((x(1), x(bar.speed)))
        rows.append(f'<text class="r" x="{left - 8:.0f}" y="{y + 15}">{bar.label}</text>'
                    f'<rect class="{ours}" x="{begin:.1f}" y="{y + 3}" width="{max(end - begin, 1.5):.1f}" height="{step - 6}"/>')
        if bar.interval:
            rows.append(f'<line class="e" x1="{x(bar.interval[0]):.1f}" y1="{y + 10}" x2="{x(bar.interval[1]):.1f}" y2="{y + 10}"/>')
        place = max(end, x(bar.interval[1])) if bar.interval else end
        rows.append(f'<text class="s" x="{place + 5:.0f}" y="{y + 14}">{speed_text(bar.speed)}</text>')
        y += step
    grid = [f'<line class="{"e" if tick == 1 else "g"}" x1="{x(tick):.1f}" y1="{top}" x2="{x(tick):.1f}" y2="{y}"/>'
            f'<text class="s m" x="{x(tick):.0f}" y="{y + 14}">{tick:g}</text>' for tick in ticks_of_speed(low, high)]
    return svg(left + width + 60, y + 26, title, subtitle, grid + rows)


def absolute_bars(title, subtitle, groups):
    """groups: heading, then (library, value, text). Linear from 0."""
    left, width, step, top = 120, 440, 20, 56
    scale = width / max(value for _, values in groups for _, value, _ in values)
    rows, y = [], top
    for heading, values in groups:
        rows.append(f'<text class="h" x="16" y="{y + 16}">{heading}</text>')
        y += step + 2
        for library, value, text in values:
            rows.append(f'<text class="r" x="{left - 8}" y="{y + 15}">{library}</text><rect class="{LIBRARIES[library]}" x="{left}" '
                        f'y="{y + 3}" width="{max(value * scale, 1):.1f}" height="{step - 6}"/>'
                        f'<text class="s" x="{left + value * scale + 5:.0f}" y="{y + 14}">{text}</text>')
            y += step
    return svg(left + width + 110, y + 16, title, subtitle, rows)


def size_name(size):
    return next((f"{size // unit} {name}" for name, unit in (("Mi", 1 << 20), ("Ki", 1 << 10)) if size >= unit), str(size))


def decades(low, high, factors=(1,)):
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [factor * 10.0 ** power for power in powers for factor in factors if low <= factor * 10.0 ** power <= high]


def line_chart(title, subtitle, series, ticks, names=str, factors=(1,), marked=()):
    """series: name, class, points. Both axes are logarithmic; a legend is at the right."""
    place = Place(60, 60, 520, 300)
    values = [value for _, _, points in series for _, value in points]
    low, high = min(values) / 1.15, max(values) * 1.15
    first, last = math.log2(min(ticks)), math.log2(max(ticks))

    def at(size, value):
        return (place.left + place.width * (math.log2(size) - first) / (last - first),
                place.top + place.height * math.log(high / value) / math.log(high / low))
    body = []
    for value in decades(low, high, factors):
        y = at(min(ticks), value)[1]
        body.append(f'<line class="{"e" if value in marked else "g"}" x1="{place.left}" y1="{y:.0f}" x2="{place.left + place.width}" y2="{y:.0f}"/>'
                    f'<text class="s r" x="{place.left - 6}" y="{y + 4:.0f}">{value:g}</text>')
    for tick in ticks:
        body.append(f'<text class="s m" x="{at(tick, low)[0]:.0f}" y="{place.top + place.height + 16}">{names(tick)}</text>')
    for name, kind, points in series:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
        body.append(f'<polyline class="l{kind}" points="{line}" fill="none" stroke-width="{3 if kind == "zipmpi" else 1.6}"/>')
    for i, (name, kind, _) in enumerate(reversed(series)):
        y = place.top + 8 + 20 * i
        body.append(f'<rect class="{kind}" x="{place.left + place.width + 16}" y="{y}" width="14" height="4"/>'
                    f'<text x="{place.left + place.width + 36}" y="{y + 8}">{name}</text>')
    return svg(place.left + place.width + 150, place.top + place.height + 28, title, subtitle, body)


def bytes_of(text):
    value, _, unit = text.partition(" ")
    return int(value) * BYTES[unit]


def over_sizes(title, subtitle, heading):
    head, rows = table_below("within_node.md", heading)
    series = [(name, LIBRARIES[name], [(bytes_of(row[0]), number(row[head.index(name)])) for row in rows if bytes_of(row[0]) > 0])
              for name in reversed(head) if name in LIBRARIES]
    return line_chart(title, subtitle, series, [1, 16, 256, 4096, 1 << 16, 1 << 20, 1 << 22], size_name)


def latency():
    return over_sizes("Half round trip between two ranks of a node", "microseconds by message size in bytes, both logarithmic; lower is better",
                      "### Half round trip, us, 2 ranks")


def bandwidth():
    return over_sizes("Bandwidth between two ranks of a node, windows of 64 messages",
                      "MB/s by message size in bytes, both logarithmic; higher is better", "### Bandwidth, windows of 64, MB/s, 2 ranks")


def message_rate():
    groups = []
    for ranks in (2, 4):
        head, rows = table_below("within_node.md", f"### Message rate, M/s, {ranks} ranks")
        cells = {name: rows[0][head.index(name)] for name in LIBRARIES if name in head}
        groups.append((f"{ranks} ranks", [(name, number(cell), f"{number(cell):.3g} million/s") for name, cell in cells.items()]))
    return absolute_bars("Message rate, 8 bytes", "two cores; longer is better", groups)


def collectives():
    head, rows = table_below("collectives.md", "## Within a node")
    ranks = [int(cell.split()[0]) for cell in head[1:]]
    kinds = dict(zip((row[0] for row in rows if row[0] not in ("all", "required (targets 6.1 to 6.6)")), OTHERS))
    series = [(row[0], kinds.get(row[0], "zipmpi"), [(count, 1 / number(cell)) for count, cell in zip(ranks, row[1:])])
              for row in rows if row[0] in kinds or row[0] == "all"]
    return line_chart("Speed of collectives relative to the best peer", "by ranks on two cores; geometric mean over sizes of 8 B to 1 MiB "
                      "(16 KiB from 64 ranks on); higher is better, 1 is the best peer", series, ranks, factors=(1, 2, 5), marked=(1,))


def by_ranks(page, group):
    """The programs of a table that bench/compare writes, and their geometric means, by ranks."""
    head, rows = table_below(page, f"### {group}, s")
    _, means = table_below(page, "### ZipMPI / best peer by group")
    ratio, bars = head.index("ZipMPI / best peer"), []
    for ranks in sorted({int(row[1]) for row in rows}):
        heading = f"{ranks} ranks"
        bars += [speed_of_time(row[0].removesuffix(", wall time"), row[ratio], heading) for row in rows
                 if int(row[1]) == ranks and number(row[ratio])]
        bars += [speed_of_time("geometric mean", row[3], heading) for row in means if row[0] == group and int(row[1]) == ranks and int(row[2]) > 1]
    return bars


def npb():
    return speed_bars("Speed of NPB relative to the best peer", "two cores; to the right ZipMPI is faster, 1 is the best peer; logarithmic",
                      by_ranks("npb.md", "NPB"))


def applications():
    return speed_bars("Speed of mini-applications relative to the best peer", "wall time including startup, two cores; to the right ZipMPI "
                      "is faster, 1 is the best peer; logarithmic", by_ranks("applications.md", "mini-applications, wall time"))


def oversubscribed():
    bars = []
    for heading, title in (("### Barrier, us", "Barrier"), ("### Allreduce of 8 bytes, us", "Allreduce of 8 bytes"),
                           ("### Half round trip of ranks 0 and 1, other ranks in a barrier, 8 bytes, us", "Half round trip, others wait")):
        head, rows = table_below("within_node.md", heading)
        for row in rows:
            if int(row[0]) > 2:
                ours, *peers = (number(row[head.index(name)]) for name in LIBRARIES)
                bars.append(Bar(f"{row[0]} ranks", min(peers) / ours, heading=title))
    return speed_bars("Many ranks on two cores: speed relative to the best peer", "to the right ZipMPI is faster; logarithmic", bars)


def datatypes():
    _, rows = table_below("datatypes.md", "## Messages of derived datatypes")
    return speed_bars("Messages of derived datatypes: speed relative to the best peer", "2 ranks; to the right ZipMPI is faster; logarithmic",
                      [speed_of_time(row[0], row[1]) for row in rows])


def files():
    _, rows = table_below("files.md", "## Interleaved views")
    bars = [Bar(f"{row[1]}, blocks of {row[0]}", number(row[2 + i]), heading=f"{ranks} ranks") for i, ranks in enumerate((2, 4)) for row in rows]
    return speed_bars("Collective file access: rate relative to the best peer", "interleaved blocks, tmpfs; to the right ZipMPI is faster; "
                      "logarithmic", bars)


def threads():
    _, rows = table_below("threads.md", "## Message rate")
    return speed_bars("Message rate of threads relative to the best peer", "2 ranks, MPI_THREAD_MULTIPLE; to the right ZipMPI is faster; "
                      "logarithmic", [Bar(f"{row[0]} threads per rank", number(row[1])) for row in rows])


def rma():
    head, rows = table_below("rma.md", "### Operations, us")
    ours, bars = head.index("ZipMPI, target computes"), []
    for window, title in (("allocate", "MPI_Win_allocate"), ("create", "MPI_Win_create")):
        for row in rows:
            if row[1] == window:
                peers = [number(cell) for cell in row[ours + 1:ours + 3]]
                bars.append(Bar(row[0].replace("_", " "), min(peers) / number(row[ours]), heading=title))
    return speed_bars("One-sided operations, the target computes: speed relative to the best peer",
                      "2 ranks, Open MPI over UCX and MPICH; to the right ZipMPI is faster; logarithmic", bars)


def power_of_ten(value):
    return str(value) if value < 1000 else f"10^{round(math.log10(value))}"


def over_ranks(title, subtitle, heading, columns):
    """Lines over the number of ranks, from columns of a table of scale.md."""
    head, rows = table_below("scale.md", heading)
    kinds = ("zipmpi", *OTHERS)
    series = [(name, kinds[i], [(int(row[0]), number(row[head.index(name)])) for row in rows if number(row[head.index(name)])])
              for i, name in enumerate(columns)]
    return line_chart(title, subtitle, series, [int(row[0]) for row in rows], power_of_ten)


def scale_time():
    return over_ranks("Simulated collectives by number of ranks", "ms, 100 ranks per node, both axes logarithmic; flat: every rank exchanges messages",
                      "## Simulated jobs", ("barrier", "barrier, flat", "allreduce 8 B", "allreduce 8 B, flat", "allreduce 1 MiB", "alltoall 8 B"))


def scale_start():
    return over_ranks("Simulated start of a job and its memory", "seconds until all ranks have left a PMI fence; KiB per rank of hierarchy and schedule; "
                      "logarithmic", "## Simulated jobs", ("start s", "KiB per rank"))


CHARTS = (applications, bandwidth, collectives, datatypes, files, latency, message_rate, npb, oversubscribed, rma, scale_start, scale_time, threads)


def main():
    charts = {f"{chart.__name__}.svg": chart() for chart in CHARTS}
    if "--check" in sys.argv:
        old = [name for name, text in charts.items() if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text]
        sys.exit(f"run docs/performance/draw_charts.py: {', '.join(old)} not up to date" if old else 0)
    for name, text in charts.items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
