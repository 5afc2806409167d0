# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The suite `applications`: executables that were built before with each library, from a TOML file or from options. The format
is described in bench/applications/README.md."""
import contextlib
import glob
import os
import re
import shlex
import shutil
import tempfile
import tomllib
from typing import NamedTuple, Optional, Tuple

from . import targets
from .stats import HIGHER_IS_BETTER, Key, Line, RunFailed
from .targets import ZIPMPI

WITHIN = {"openmpi_ucx": "openmpi"}  # libraries that run the executables of another one
WALL = ", wall time"
UNITS = ("s", "us", "rate", "MB/s", "GB/s", "M/s", "k/s", "GUP/s", "Gflop/s", "Tflop/s")
OUTPUT_SHOWN = 300  # characters of the output that a message quotes
KNOWN = {"group", "name", "ranks", "command", "figure", "unit", "verified", "wall", "limit", "files", "output",
         "figures"}
KNOWN_FIGURE = {"name", "figure", "unit", "group"}
KNOWN_LIBRARY = {"folder", "launcher", "most_ranks"}


class BadFile(Exception):
    """What is wrong, and where."""


class Figure(NamedTuple):
    """One of the numbers that a run prints."""
    name: str
    pattern: str  # with one group
    unit: str = "s"
    group: str = ""


class Application(NamedTuple):
    """One program with one number of ranks. Has the methods of suites.Run."""
    name: str
    ranks: int
    commands: Tuple[Tuple[str, str], ...]  # of each library that runs it
    figure: Optional[str] = None  # pattern with one group
    unit: str = "s"
    verified: Optional[str] = None
    wall: bool = False
    limit: int = 300  # seconds
    files: Tuple[Tuple[str, str], ...] = ()  # name in the folder of each run, path of what is copied there
    output: str = ""  # files that the program writes there, as a pattern of names; read like its output
    group: str = ""
    further: Tuple[Figure, ...] = ()  # figures besides the first one
    program: str = ""
    max_rounds: int = 1000
    hosts: int = 1
    at_once: bool = False

    @property
    def figures(self):
        first = (Figure(self.name, self.figure, self.unit, self.group),) if self.figure else ()
        return first + self.further

    @property
    def only(self):
        return tuple(library for library, _ in self.commands)

    def words(self, library):
        return shlex.split(dict(self.commands)[library.key])

    def placing(self, library, cores):
        """Bound as by default of each library."""
        return library.oversubscribed if self.ranks > cores else []

    @contextlib.contextmanager
    def work_folder(self):
        """A new folder for each run: programs read and write files in the current one."""
        with tempfile.TemporaryDirectory(prefix="application-") as folder:
            for name, file in self.files:
                shutil.copy(file, os.path.join(folder, name))
            yield folder

    def written(self, folder):
        """The text of its output files."""
        texts = []
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), self.output))) if self.output else ():
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        return "".join(texts)

    def lines(self, output, begin, end):
        if self.verified and not re.search(self.verified, output):
            raise RunFailed(f"the output lacks {self.verified}: {output.strip()[-OUTPUT_SHOWN:]}")
        lines = []
        for figure in self.figures:
            found = re.search(figure.pattern, output)
            if not found:
                raise RunFailed(f"the output lacks {figure.pattern}: {output.strip()[-OUTPUT_SHOWN:]}")
            lines.append(Line(figure.name, 0, float(found[1]), figure.unit))
        if self.wall:
            lines.append(Line(self.name + WALL, 0, (end - begin) / 1e9, "s"))
        return lines

    def keys(self):
        """By group."""
        found = [(figure.group, Key(figure.name, self.ranks, 0)) for figure in self.figures]
        return found + ([(self.group + WALL, Key(self.name + WALL, self.ranks, 0))] if self.wall else [])

    def title(self):
        return f"{self.name} with {self.ranks} ranks"


class Suite(NamedTuple):
    runs: list
    launchers: dict  # words in place of a library's launcher
    targets: list

    def groups(self):
        """Group: keys, in the order of the file."""
        found = {}
        for run in self.runs:
            for group, key in run.keys():
                found.setdefault(group, []).append(key)
        return found


def check_pattern(where, pattern, groups):
    try:
        count = re.compile(pattern).groups
    except re.error as reason:
        raise BadFile(f"{where}: {pattern}: {reason}") from reason
    if groups and count != 1:
        raise BadFile(f"{where}: {pattern}: exactly one group is wanted, not {count}")


def commands_by_ranks(where, entry):
    """`command` is one for all `ranks`, or a table from ranks to commands."""
    command, ranks = entry["command"], entry.get("ranks", [])
    if isinstance(command, dict):
        return {int(number): text for number, text in command.items()}
    if not ranks:
        raise BadFile(f"{where}: ranks are missing")
    return {number: command for number in ([ranks] if isinstance(ranks, int) else ranks)}


def figures_of(where, entry):
    """The figures of the list `figures`, named after the program and themselves."""
    made = []
    for item in entry.get("figures", ()):
        if set(item) - KNOWN_FIGURE or not {"name", "figure"} <= set(item):
            raise BadFile(f"{where}: figures: unknown words {sorted(set(item) - KNOWN_FIGURE)}, or name or figure is missing")
        made.append(Figure(f"{entry['name']} {item['name']}", item["figure"], item.get("unit", entry.get("unit", "s")),
                           item.get("group", entry.get("group", "applications"))))
    if len({figure.name for figure in made}) < len(made):
        raise BadFile(f"{where}: two figures have the same name")
    return tuple(made)


def files_of(entry, ranks, base):
    """`files` is a list, or a table from names in the folder of a run to files; {ranks} in them is replaced."""
    files = entry.get("files", ())
    named = files.items() if isinstance(files, dict) else ((os.path.basename(file), file) for file in files)
    return tuple((name, os.path.join(base, file.replace("{ranks}", str(ranks)))) for name, file in named)


def applications_of(where, entry, folders, most_ranks, base):
    unknown = set(entry) - KNOWN
    if unknown or not {"name", "command"} <= set(entry):
        raise BadFile(f"{where}: unknown words {sorted(unknown)}, or name or command is missing")
    further = figures_of(where, entry)
    if not entry.get("figure") and not further and not entry.get("wall"):
        raise BadFile(f"{where}: figure or wall is wanted")
    for pattern, groups in ((entry.get("figure"), 1), (entry.get("verified"), 0), *((figure.pattern, 1) for figure in further)):
        if pattern:
            check_pattern(where, pattern, groups)
    if not {entry.get("unit", "s"), *(figure.unit for figure in further)} <= set(UNITS):
        raise BadFile(f"{where}: unit is one of {', '.join(UNITS)}")
    for ranks, command in commands_by_ranks(where, entry).items():
        commands = tuple((library, command.replace("{folder}", shlex.quote(folder)).replace("{ranks}", str(ranks)))
                         for library, folder in folders.items() if ranks <= most_ranks.get(library, ranks))
        yield Application(entry["name"], ranks, commands, entry.get("figure"), entry.get("unit", "s"), entry.get("verified"),
                          entry.get("wall", False), entry.get("limit", 300),
                          files_of(entry, ranks, base), entry.get("output", ""), entry.get("group", "applications"), further)


def check_units(where, runs):
    """A geometric mean of times and rates has no meaning."""
    direction = {}
    for figure in (figure for run in runs for figure in run.figures):
        more = figure.unit in HIGHER_IS_BETTER
        if direction.setdefault(figure.group, more) != more:
            raise BadFile(f"{where}: the group {figure.group} has times and rates: use two groups")


def with_shared_folders(folders):
    return folders | {library: folders[other] for library, other in WITHIN.items() if other in folders and library not in folders}


def load(path, folders, names=()):
    """folders: of the executables, by library, in addition to those of the file. names: only these programs."""
    with open(path, "rb") as file:
        try:
            data = tomllib.load(file)
        except tomllib.TOMLDecodeError as reason:
            raise BadFile(f"{path}: {reason}") from reason
    base, libraries = os.path.dirname(os.path.abspath(path)), data.get("library", {})
    for library, entry in libraries.items():
        if set(entry) - KNOWN_LIBRARY:
            raise BadFile(f"{path}: library {library}: unknown words {sorted(set(entry) - KNOWN_LIBRARY)}")
    given = {library: os.path.join(base, entry["folder"]) for library, entry in libraries.items() if "folder" in entry}
    places = with_shared_folders(given | folders)
    if ZIPMPI not in places:
        raise BadFile(f"{path}: the folder of {ZIPMPI}'s executables is missing; name it with --folder {ZIPMPI}=DIR")
    most_ranks = {library: entry["most_ranks"] for library, entry in libraries.items() if "most_ranks" in entry}
    runs = []
    for number, entry in enumerate(data.get("application", ()), 1):
        where = f"{path}: application {entry.get('name', number)}"
        runs += [run for run in applications_of(where, entry, places, most_ranks, base) if not names or run.name in names]
    if not runs:
        raise BadFile(f"{path}: no application" + (f" named {', '.join(names)}" if names else ""))
    check_units(path, runs)
    wanted = data.get("target", [])
    for target in wanted:
        targets.check(path, target)
    launchers = {library: shlex.split(entry["launcher"]) for library, entry in libraries.items() if "launcher" in entry}
    return Suite(runs, launchers, [{"set": "applications", "reference": targets.BEST_PEER} | target for target in wanted])


def from_options(commands, ranks, figure, unit, verified):
    """One program: its command for each library. Without a pattern its wall time counts."""
    if ZIPMPI not in commands:
        raise BadFile(f"--command {ZIPMPI}=COMMAND is missing")
    name = os.path.basename(shlex.split(commands[ZIPMPI])[0])
    if figure:
        check_pattern("--figure", figure, 1)
    everything = tuple(with_shared_folders(commands).items())
    return Suite([Application(name, number, everything, figure, unit, verified, not figure, group="applications")
                  for number in ranks], {}, [])


def varied(suite, variants):
    """Each variant of zipmpi runs its executables; no peers, so no targets."""
    runs = []
    for run in suite.runs:
        command = dict(run.commands).get(ZIPMPI)
        if command is not None:
            runs.append(run._replace(commands=tuple((library.key, command) for library in variants)))
    return suite._replace(runs=runs, targets=[])


def libraries(suite, known):
    """The libraries that run an application, with the launchers of the suite. Nothing is compiled with them."""
    wanted = {key for run in suite.runs for key in run.only}
    chosen = [library for library in known if library.key in wanted]
    for library in chosen:
        library.launcher = suite.launchers.get(library.key, library.launcher)
    return chosen
