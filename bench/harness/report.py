# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a comparison, as plain text or Markdown, and the JSON with everything in it."""
from . import bars, variants
from .figures import geometric_mean

TITLES = {
    "latency": "Half round trip", "latency_alone": "Half round trip, each size by itself",
    "bandwidth_alone": "Bandwidth, windows of 64, each size by itself", "bandwidth": "Bandwidth, windows of 64", "both_ways": "Bandwidth in both directions",
    "bandwidth_alloc_mem": "Bandwidth, buffers from MPI_Alloc_mem", "message_rate": "Message rate",
    "multi_pair": "Half round trip of several pairs at once", "skew_1": "Producer, consumer of 1 us",
    "skew_1000": "Producer, consumer of 1000 us", "skew_first_1000": "Producer, consumer of 1000 us, first time",
    "overlap": "Exchange hidden behind computing", "barrier": "Barrier", "allreduce": "Allreduce",
    "crowded_ping_pong": "Half round trip of ranks 0 and 1, the others in a barrier",
    "memory_start": "Memory per rank after MPI_Init", "memory_ring": "Memory per rank after talking to two neighbours",
    "memory_alltoall": "Memory per rank after an all-to-all",
    "startup": "Start-up", "blocked": "Processor time of a blocked rank",
    "coll_barrier": "Barrier", "coll_bcast": "Broadcast", "coll_reduce": "Reduce", "coll_allreduce": "Allreduce",
    "coll_allgather": "Allgather", "coll_alltoall": "All-to-all", "coll_reduce_scatter": "Reduce-scatter",
    "contiguous": "Half round trip in one piece", "vector_64": "Half round trip of 64 blocks with gaps",
    "vector_128": "Half round trip of 128 blocks with gaps",
    "contiguous_bandwidth": "Bandwidth in one piece, windows of 64",
    "vector_64_bandwidth": "Bandwidth of 64 blocks with gaps, windows of 64",
    "vector_128_bandwidth": "Bandwidth of 128 blocks with gaps, windows of 64",
    "overlap_iallreduce": "MPI_Iallreduce hidden behind computing", "start_iallreduce": "Call of MPI_Iallreduce",
    "beside_iallreduce": "MPI_Iallreduce beside computing", "beside_ialltoall": "MPI_Ialltoall beside computing",
    "overlap_ialltoall": "MPI_Ialltoall hidden behind computing", "start_ialltoall": "Call of MPI_Ialltoall",
    **{f"{what}_{layout}": f"{title} of {layout} layouts" for layout in ("vector", "indexed", "subarray", "struct")
       for what, title in (("pack", "Packing"), ("unpack", "Unpacking"), ("pack_loop", "Packing by a loop"),
                           ("unpack_loop", "Unpacking by a loop"))},
}
NONE = "-"


def short(value):
    if value is None:
        return NONE
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def cell(figure):
    if figure is None:
        return NONE
    return short(figure.median) + (f" ±{figure.spread:.0%}" if figure.spread is not None else "")


def size_text(size):
    for unit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return str(size)


def text_table(rows, words):
    """The first column is words; the others are numbers, to the right, unless all are words."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [text.ljust(width) if words or not column else text.rjust(width)
                 for column, (text, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def markdown_table(rows, words):
    bar = "|" + "|".join(["---"] + ["---" if words else "---:"] * (len(rows[0]) - 1)) + "|"
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
    return "\n".join([lines[0], bar, *lines[1:]])


class Report:
    """`comparison` holds what was measured and how: results, table of bars, libraries, host, commit, date, set, rounds."""

    def __init__(self, comparison, markdown):
        self.c, self.markdown = comparison, markdown

    def table(self, rows, words=False):
        return (markdown_table if self.markdown else text_table)(rows, words)

    def heading(self, text):
        return f"### {text}" if self.markdown else f"{text}\n{'=' * len(text)}"

    def head(self):
        c, host = self.c, self.c["host"]
        kind = "virtual cores" if host["virtual"] else "cores"
        lines = [f"{c['date']}, commit {c['commit']}, set `{c['set']}`, {c['rounds']} rounds, {c['seconds']:.0f} s. "
                 f"{host['cores']} {kind} of {host['processor']}, {host['memory']}, {host['system']}, "
                 f"Linux {host['kernel']}, load at the start {host['load']:.1f}.",
                 "Medians over the rounds; after ± the distance of the quartiles in parts of the median."]
        if not self.markdown:
            lines[0] = lines[0].replace("`", "")
        return "\n".join(lines)

    def libraries(self):
        rows = [["library", "version", "command"]]
        for library in self.c["libraries"]:
            rows.append([library["title"], library["version"], library["command"]])
        rows += [[key, "not measured", why] for key, why in self.c["absent"].items()]
        return self.table(rows, words=True)

    def best_ratio(self, key):
        """Ours to the best peer there is. Marked where that comparison is too unsteady to count."""
        ours, table = self.c["results"].figure(bars.OURS, key), self.c["table"]
        if ours is None:
            return NONE
        there = [peer for peer in table["peers"] if self.c["results"].figure(peer, key)]
        if not there:
            return NONE
        best = there[0]
        for peer in there[1:]:
            if self.c["results"].figure(peer, key).better_than(self.c["results"].figure(best, key)):
                best = peer
        reference = self.c["results"].figure(best, key)
        if reference.median == 0:
            return NONE
        steady = ours.steady(table["most_spread"])
        try:
            bars.best_peer(self.c["results"], key, table["peers"], table["most_spread"])
        except bars.NotMeasured:
            steady = False
        return f"{ours.median / reference.median:.2f}" + ("" if steady else " ?")

    def figure_table(self, keys):
        shown = [library for library in self.c["libraries"] if library["key"] != bars.BARE]
        limits = [bars.limit_of(self.c["results"], key, self.c["table"]) for key in keys]
        rows = [["size", *(library["title"] for library in shown), "ours / best peer"]]
        if any(limits):
            rows[0] += ["bare limit", "ours / bare"]
        for key, limit in zip(keys, limits):
            row = [size_text(key.size)]
            row += [cell(self.c["results"].figure(library["key"], key)) for library in shown]
            row.append(self.best_ratio(key))
            if any(limits):
                ours = self.c["results"].figure(bars.OURS, key)
                row += [cell(limit), f"{ours.median / limit.median:.2f}" if ours and limit else NONE]
            rows.append(row)
        return self.table(rows)

    def figures(self):
        groups = {}
        for key in self.c["results"].keys():
            if any(key in self.c["results"].libraries.get(library["key"], {}) for library in self.c["libraries"]
                   if library["key"] != bars.BARE):
                groups.setdefault((key.name, key.ranks), []).append(key)
        parts = []
        for (name, ranks), keys in groups.items():
            unit = next(figures[keys[0]].unit for figures in self.c["results"].libraries.values() if keys[0] in figures)
            parts.append(self.heading(f"{TITLES.get(name, name)}, {unit}, {ranks} ranks"))
            parts.append(self.figure_table(sorted(keys, key=lambda key: key.size)))
        return parts

    def bare(self):
        rows = [["reference", "size", "value", "unit"]]
        for library in (bars.BARE, bars.UCX):
            for key, figure in self.c["results"].libraries.get(library, {}).items():
                rows.append([key.name, size_text(key.size), cell(figure), figure.unit])
        return [self.heading("The bare machine"), self.table(rows)] if len(rows) > 1 else []

    def bars(self):
        if not self.c["verdicts"]:
            return []
        rows = [["bar", "what", "wanted", "found", "verdict"]]
        for verdict in self.c["verdicts"]:
            bar = verdict.bar
            wanted = f"at most {bar['at_most']}" if "at_most" in bar else f"at least {bar['at_least']}"
            outcome = verdict.outcome + (f" ({verdict.why})" if verdict.why else "")
            rows.append([bar["number"], bar["text"], wanted, found(verdict), outcome])
        return [self.heading("Bars"), self.table(rows, words=True)]

    def failures(self):
        if not self.c["failures"]:
            return []
        rows = [["library", "run", "round", "why"]]
        for failure in self.c["failures"]:
            rows.append([failure["library"], failure["run"], str(failure["round"]), " ".join(failure["why"].split())[:120]])
        return [self.heading("Runs that failed"), self.table(rows, words=True)]

    def whole(self):
        if self.c["vary"]:
            parts = [self.heading(f"{self.c['vary'].partition('=')[0]} / default"), self.table(variants.rows(self.c)), variants.NOTE]
        else:
            parts = [*self.figures(), "A ratio with ? is not measured: a peer is missing, or figures lie too far apart."]
        parts = [self.head(), self.libraries(), *self.bars(), *parts, *self.bare(), *self.failures()]
        return "\n\n".join(parts) + "\n"


def place(key, bar):
    """What tells a point of a bar from its others."""
    ranks = f"{key.ranks} ranks" if len(bar["ranks"]) > 1 else ""
    if "points" in bar:
        return ", ".join(filter(None, (f"{key.name} {size_text(key.size)}", ranks)))
    return ", ".join(filter(None, (size_text(key.size) if len(bar["sizes"]) > 1 else "", ranks)))


def found(verdict):
    """The ratios of a bar, from the one that is furthest from it to the best."""
    bar = verdict.bar
    points = sorted((point for point in verdict.points if point.ratio is not None), key=lambda point: point.ratio,
                    reverse="at_most" in bar)
    if not points:
        return NONE
    if bar.get("rule") == "geometric mean":
        return short(geometric_mean([point.ratio for point in points]))
    ends = points[:1] if len(points) == 1 else (points[0], points[-1])
    return " .. ".join(short(point.ratio) + (f" ({place(point.key, bar)})" if place(point.key, bar) else "") for point in ends)


def as_json(c):
    return {
        **{name: c[name] for name in ("date", "commit", "set", "rounds", "seconds", "host", "libraries", "absent", "failures", "vary")},
        "most_spread": c["table"]["most_spread"],
        "figures": c["results"].as_json(),
        "bars": [{**verdict.bar, "outcome": verdict.outcome, "why": verdict.why, "geometric_mean": verdict.mean,
                  "points": [{"figure": p.key.name, "ranks": p.key.ranks, "size": p.key.size, "ratio": p.ratio, "why": p.why}
                             for p in verdict.points]} for verdict in c["verdicts"]],
    }
