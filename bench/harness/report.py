# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a comparison, as plain text or Markdown, and the JSON with all values."""
from . import targets, variants
from .stats import geometric_mean

TITLES = {
    "latency": "Half round trip", "latency_alone": "Half round trip, one size per run",
    "bandwidth_alone": "Bandwidth, windows of 64, one size per run", "bandwidth": "Bandwidth, windows of 64", "both_ways": "Bandwidth in both directions",
    "bandwidth_alloc_mem": "Bandwidth, buffers from MPI_Alloc_mem", "message_rate": "Message rate",
    "multi_pair": "Half round trip of several pairs at once", "skew_1": "Producer, consumer of 1 us",
    "skew_1000": "Producer, consumer of 1000 us", "skew_first_1000": "Producer, consumer of 1000 us, first time",
    "overlap": "Exchange hidden behind computation", "barrier": "Barrier", "allreduce": "Allreduce",
    "oversubscribed_ping_pong": "Half round trip of ranks 0 and 1, the others in a barrier",
    "memory_start": "Memory per rank after MPI_Init", "memory_ring": "Memory per rank after messages to two neighbors",
    "memory_alltoall": "Memory per rank after an all-to-all",
    "startup": "Startup", "blocked": "CPU time of a blocked rank",
    "coll_barrier": "Barrier", "coll_bcast": "Broadcast", "coll_reduce": "Reduce", "coll_allreduce": "Allreduce",
    "coll_allgather": "Allgather", "coll_alltoall": "All-to-all", "coll_reduce_scatter": "Reduce-scatter",
    "contiguous": "Half round trip, contiguous", "vector_64": "Half round trip of 64 noncontiguous blocks",
    "vector_128": "Half round trip of 128 noncontiguous blocks",
    "contiguous_bandwidth": "Bandwidth, contiguous, windows of 64",
    "vector_64_bandwidth": "Bandwidth of 64 noncontiguous blocks, windows of 64",
    "vector_128_bandwidth": "Bandwidth of 128 noncontiguous blocks, windows of 64",
    "overlap_iallreduce": "MPI_Iallreduce hidden behind computation", "start_iallreduce": "Call of MPI_Iallreduce",
    "beside_iallreduce": "Time that MPI_Iallreduce adds to computation", "beside_ialltoall": "Time that MPI_Ialltoall adds to computation",
    "overlap_ialltoall": "MPI_Ialltoall hidden behind computation", "start_ialltoall": "Call of MPI_Ialltoall",
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
    """The first column is text; the others are numbers, right-aligned, unless all are text."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [text.ljust(width) if words or not column else text.rjust(width)
                 for column, (text, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def markdown_table(rows, words):
    rule = "|" + "|".join(["---"] + ["---" if words else "---:"] * (len(rows[0]) - 1)) + "|"
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]])


class Report:
    """`comparison` has the measurements and their conditions: results, table of targets, libraries, host, commit, date, set, rounds."""

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
                 "Medians over the rounds; after ± the interquartile range relative to the median."]
        if not self.markdown:
            lines[0] = lines[0].replace("`", "")
        return "\n".join(lines)

    def libraries(self):
        rows = [["library", "version", "command"]]
        for library in self.c["libraries"]:
            rows.append([library["title"], library["version"], library["command"]])
        rows += [[key, "inconclusive", why] for key, why in self.c["absent"].items()]
        return self.table(rows, words=True)

    def best_ratio(self, key):
        """ZipMPI relative to the best available peer. Marked if the comparison is inconclusive."""
        zipmpi, table = self.c["results"].figure(targets.ZIPMPI, key), self.c["table"]
        if zipmpi is None:
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
        steady = zipmpi.steady(table["max_spread"])
        try:
            targets.best_peer(self.c["results"], key, table["peers"], table["max_spread"])
        except targets.Inconclusive:
            steady = False
        return f"{zipmpi.median / reference.median:.2f}" + ("" if steady else " ?")

    def figure_table(self, keys):
        shown = [library for library in self.c["libraries"] if library["key"] != targets.BASELINE]
        limits = [targets.limit_of(self.c["results"], key, self.c["table"]) for key in keys]
        rows = [["size", *(library["title"] for library in shown), "zipmpi / best peer"]]
        if any(limits):
            rows[0] += ["baseline limit", "zipmpi / baseline"]
        for key, limit in zip(keys, limits):
            row = [size_text(key.size)]
            row += [cell(self.c["results"].figure(library["key"], key)) for library in shown]
            row.append(self.best_ratio(key))
            if any(limits):
                zipmpi = self.c["results"].figure(targets.ZIPMPI, key)
                row += [cell(limit), f"{zipmpi.median / limit.median:.2f}" if zipmpi and limit else NONE]
            rows.append(row)
        return self.table(rows)

    def figures(self):
        groups = {}
        for key in self.c["results"].keys():
            if any(key in self.c["results"].libraries.get(library["key"], {}) for library in self.c["libraries"]
                   if library["key"] != targets.BASELINE):
                groups.setdefault((key.name, key.ranks), []).append(key)
        parts = []
        for (name, ranks), keys in groups.items():
            unit = next(figures[keys[0]].unit for figures in self.c["results"].libraries.values() if keys[0] in figures)
            parts.append(self.heading(f"{TITLES.get(name, name)}, {unit}, {ranks} ranks"))
            parts.append(self.figure_table(sorted(keys, key=lambda key: key.size)))
        return parts

    def baseline(self):
        rows = [["reference", "size", "value", "unit"]]
        for library in (targets.BASELINE, targets.UCX):
            for key, figure in self.c["results"].libraries.get(library, {}).items():
                rows.append([key.name, size_text(key.size), cell(figure), figure.unit])
        return [self.heading("Baseline"), self.table(rows)] if len(rows) > 1 else []

    def targets(self):
        if not self.c["verdicts"]:
            return []
        rows = [["target", "what", "wanted", "found", "verdict"]]
        for verdict in self.c["verdicts"]:
            target = verdict.target
            wanted = f"at most {target['at_most']}" if "at_most" in target else f"at least {target['at_least']}"
            outcome = verdict.outcome + (f" ({verdict.why})" if verdict.why else "")
            rows.append([target["number"], target["text"], wanted, found(verdict), outcome])
        return [self.heading("Performance targets"), self.table(rows, words=True)]

    def failures(self):
        if not self.c["failures"]:
            return []
        rows = [["library", "run", "round", "why"]]
        for failure in self.c["failures"]:
            rows.append([failure["library"], failure["run"], str(failure["round"]), " ".join(failure["why"].split())[:120]])
        return [self.heading("Failed runs"), self.table(rows, words=True)]

    def whole(self):
        if self.c["vary"]:
            parts = [self.heading(f"{self.c['vary'].partition('=')[0]} / default"), self.table(variants.rows(self.c)), variants.NOTE]
        else:
            parts = [*self.figures(), "A ratio with ? is inconclusive: a peer is missing, or the spread is too large."]
        parts = [self.head(), self.libraries(), *self.targets(), *parts, *self.baseline(), *self.failures()]
        return "\n\n".join(parts) + "\n"


def place(key, target):
    """The properties in which a point of a target differs from its others."""
    ranks = f"{key.ranks} ranks" if len(target["ranks"]) > 1 else ""
    if "points" in target:
        return ", ".join(filter(None, (f"{key.name} {size_text(key.size)}", ranks)))
    return ", ".join(filter(None, (size_text(key.size) if len(target["sizes"]) > 1 else "", ranks)))


def found(verdict):
    """The ratios of a target, from the worst to the best."""
    target = verdict.target
    points = sorted((point for point in verdict.points if point.ratio is not None), key=lambda point: point.ratio,
                    reverse="at_most" in target)
    if not points:
        return NONE
    if target.get("rule") == "geometric mean":
        return short(geometric_mean([point.ratio for point in points]))
    ends = points[:1] if len(points) == 1 else (points[0], points[-1])
    return " .. ".join(short(point.ratio) + (f" ({place(point.key, target)})" if place(point.key, target) else "") for point in ends)


def as_json(c):
    return {
        **{name: c[name] for name in ("date", "commit", "set", "rounds", "seconds", "host", "libraries", "absent", "failures", "vary")},
        "max_spread": c["table"]["max_spread"],
        "figures": c["results"].as_json(),
        "targets": [{**verdict.target, "outcome": verdict.outcome, "why": verdict.why, "geometric_mean": verdict.mean,
                  "points": [{"figure": p.key.name, "ranks": p.key.ranks, "size": p.key.size, "ratio": p.ratio, "why": p.why}
                             for p in verdict.points]} for verdict in c["verdicts"]],
    }
