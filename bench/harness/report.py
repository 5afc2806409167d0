# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a comparison, as plain text or Markdown, and the JSON with all values."""
from . import intervals, targets, variants
from .busy import NONE as NOT_BUSY
from .stats import paired_ratios
from .tables import NONE, markdown_table, ratio_text, short, text_table

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
NOTE = ("Each ratio is the median of the ratios of runs next to each other; in parentheses its 95 % interval. With ? there are too few "
        "pairs for an interval.")
BUSY = {"one": "one other busy process", "cores": "another busy process on each core"}


def cell(figure):
    if figure is None:
        return NONE
    return short(figure.median) + (f" ±{figure.spread:.0%}" if figure.spread is not None else "")


def size_text(size):
    for unit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return str(size)


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
        busy = f", beside {BUSY[c['busy']]}" if c["busy"] != NOT_BUSY else ""
        lines = [f"{c['date']}, commit {c['commit']}, set `{c['set']}`, {c['rounds']} rounds, {c['seconds']:.0f} s, order of seed "
                 f"{c['seed']}{busy}. {host['cores']} cores of {host['processor']}, {host['caches']}, virtualization "
                 f"{host['virtualization']}, {host['memory']}, {host['system']}, Linux {host['kernel']}, load at the start "
                 f"{host['load']:.1f}.",
                 "Medians over the rounds; after ± the interquartile range relative to the median."]
        if not self.markdown:
            lines[0] = lines[0].replace("`", "")
        return "\n".join(lines)

    def libraries(self):
        rows = [["library", "version", "command"]]
        for library in self.c["libraries"]:
            rows.append([library["title"], library["version"], library["command"]])
        rows += [[key, "absent", " ".join(why.split())[:200]] for key, why in self.c["absent"].items()]
        return self.table(rows, words=True)

    def best_ratio(self, key):
        """ZipMPI relative to the best peer, with its interval."""
        found = targets.ratio_to_best_peer(self.c["results"], key, self.c["table"]["peers"])
        return ratio_text(found[1]) if found else NONE

    def baseline_ratio(self, key, limit):
        zipmpi = self.c["results"].figure(targets.ZIPMPI, key)
        pairs = paired_ratios(zipmpi, limit) if zipmpi and limit else ()
        return ratio_text(intervals.of_median(pairs)) if pairs else NONE

    def figure_table(self, keys):
        shown = [library for library in self.c["libraries"] if library["key"] != targets.BASELINE]
        limits = [targets.limit_of(self.c["results"], key, self.c["table"]) for key in keys]
        rows = [["size", *(library["title"] for library in shown), "ZipMPI / best peer"]]
        if any(limits):
            rows[0] += ["baseline", "ZipMPI / baseline"]
        for key, limit in zip(keys, limits):
            row = [size_text(key.size)]
            row += [cell(self.c["results"].figure(library["key"], key)) for library in shown]
            row.append(self.best_ratio(key))
            if any(limits):
                row += [cell(limit), self.baseline_ratio(key, limit)]
            rows.append(row)
        return self.table(rows)

    def application_table(self, keys):
        shown = [library for library in self.c["libraries"] if any(self.c["results"].figure(library["key"], key) for key in keys)]
        rows = [["program", "ranks", *(library["title"] for library in shown), "ZipMPI / best peer", "pairs"]]
        for key in sorted(keys, key=lambda key: key.ranks):
            found = targets.ratio_to_best_peer(self.c["results"], key, self.c["table"]["peers"])
            rows.append([key.name, str(key.ranks), *(cell(self.c["results"].figure(library["key"], key)) for library in shown),
                         ratio_text(found[1]) if found else NONE, str(len(found[0])) if found else "0"])
        return self.table(rows)

    def applications(self):
        """A table for each group of programs, and the geometric means of the groups."""
        parts = []
        for group, keys in self.c["table"].get("groups", {}).items():
            units = sorted({figure.unit for key in keys for figures in self.c["results"].libraries.values()
                            if (figure := figures.get(key))})
            parts += [self.heading(f"{group}, {', '.join(units)}" if units else group), self.application_table(keys)]
        rows = [["group", "ranks", "programs", "geometric mean", "least", "most"]]
        for entry in means_of_groups(self.c):
            rows.append([entry["group"], str(entry["ranks"]), str(entry["programs"]), ratio_text(entry["mean"]),
                         ratio_text(entry["least"]), ratio_text(entry["most"])])
        return parts + [self.heading("ZipMPI / best peer by group"), self.table(rows)] if len(rows) > 1 else parts

    def figures(self):
        grouped = {key for keys in self.c["table"].get("groups", {}).values() for key in keys}
        groups = {}
        for key in self.c["results"].keys():
            measured = [library["key"] for library in self.c["libraries"] if self.c["results"].figure(library["key"], key)]
            if key not in grouped and set(measured) - {targets.BASELINE}:
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

    def page_part(self):
        """What --page writes into a page of the documentation."""
        return "\n\n".join([self.head(), self.libraries(), *self.targets(), *self.applications(), *self.figures(), NOTE,
                            *self.failures()]) + "\n"

    def whole(self):
        if self.c["vary"]:
            parts = [self.heading(f"{self.c['vary'].partition('=')[0]} / default"), self.table(variants.rows(self.c)), variants.NOTE]
        else:
            parts = [*self.applications(), *self.figures(), NOTE]
        parts = [self.head(), self.libraries(), *self.targets(), *parts, *self.baseline(), *self.failures()]
        return "\n\n".join(parts) + "\n"


def place(key, target):
    """The properties in which a point of a target differs from its others."""
    ranks = f"{key.ranks} ranks" if len(target["ranks"]) > 1 else ""
    if "group" in target:
        return ", ".join(filter(None, (key.name, ranks)))
    if "points" in target:
        return ", ".join(filter(None, (f"{key.name} {size_text(key.size)}", ranks)))
    return ", ".join(filter(None, (size_text(key.size) if len(target["sizes"]) > 1 else "", ranks)))


def found(verdict):
    """The ratios of a target with their intervals, from the worst to the best."""
    target = verdict.target
    if target.get("rule") == "geometric mean":
        return ratio_text(verdict.mean)
    points = sorted((point for point in verdict.points if point.ratio), key=lambda point: point.ratio.middle,
                    reverse="at_most" in target)
    ends = points[:1] if len(points) <= 1 else (points[0], points[-1])
    texts = [place(point.key, target) for point in ends]
    ratio = ratio_text if "reference" in target else lambda interval: short(interval.middle)
    return " .. ".join(ratio(point.ratio) + (f" at {text}" if text else "") for point, text in zip(ends, texts)) or NONE


def means_of_groups(c):
    """Geometric means of the ratios to the best peer, by group and ranks."""
    entries = []
    for group, keys in c["table"].get("groups", {}).items():
        for ranks in sorted({key.ranks for key in keys}):
            ratios = [found for key in keys if key.ranks == ranks
                      if (found := targets.ratio_to_best_peer(c["results"], key, c["table"]["peers"]))]
            if ratios:
                by_ratio = sorted((ratio for _, ratio, _ in ratios), key=lambda ratio: ratio.middle)
                entries.append({"group": group, "ranks": ranks, "programs": len(ratios), "least": by_ratio[0], "most": by_ratio[-1],
                                "mean": intervals.of_geometric_mean([pairs for pairs, _, _ in ratios])})
    return entries


def interval_json(interval):
    return {**interval._asdict(), "enough": interval.enough} if interval else None


def ratios_json(c):
    group_of = {key: group for group, keys in c["table"].get("groups", {}).items() for key in keys}
    entries = []
    for key in c["results"].keys():
        found = targets.ratio_to_best_peer(c["results"], key, c["table"]["peers"])
        if found:
            entries.append({**key._asdict(), "group": group_of.get(key), "best_peer": found[2], **interval_json(found[1])})
    return entries


def as_json(c):
    return {
        **{name: c[name] for name in ("date", "commit", "set", "rounds", "seconds", "seed", "busy", "host", "libraries", "absent",
                                      "failures", "vary")},
        "figures": c["results"].as_json(),
        "ratios": ratios_json(c),
        "means": [{name: interval_json(value) if isinstance(value, intervals.Interval) else value for name, value in entry.items()}
                  for entry in means_of_groups(c)],
        "targets": [{**verdict.target, "outcome": verdict.outcome, "why": verdict.why, "geometric_mean": interval_json(verdict.mean),
                     "points": [{"figure": p.key.name, "ranks": p.key.ranks, "size": p.key.size, "ratio": interval_json(p.ratio),
                                 "why": p.why} for p in verdict.points]} for verdict in c["verdicts"]],
    }
