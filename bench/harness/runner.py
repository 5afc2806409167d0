# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of a suite under every library next to each other, round by round, until the ratios are exact enough."""
import os
import random
import signal
import subprocess
import sys
import time
from typing import NamedTuple, Optional

from .intervals import MIN_PAIRS
from .targets import BASELINE, UCX, ZIPMPI
from .stats import Key, Results, RunFailed
from .libraries import BASELINE_PROGRAMS, MPI_PROGRAMS, environment

GRACE = 5  # seconds for a launcher to clean up after SIGTERM
TO_END = 4  # seconds for a program to exit after its results
SLOW = 12  # seconds; a library that takes longer and is far from the best is run ROUNDS_OF_SLOW times only
ROUNDS_OF_SLOW = 3


class Progress:
    """One line that is rewritten on a terminal; otherwise one line per round."""

    def __init__(self, plan, stream=sys.stderr):
        self.plan, self.stream = plan, stream
        self.begin, self.terminal, self.last_round = time.monotonic(), stream.isatty(), 0

    @staticmethod
    def clock(seconds):
        return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"

    def show(self, round_number, what):
        most = f" of {self.plan.rounds}" if self.plan.rounds else ""
        limit = "" if self.plan.rounds else f" of at most {self.clock(self.plan.seconds)}"
        text = f"round {round_number}{most}, {self.clock(time.monotonic() - self.begin)}{limit}"
        if self.terminal:
            print(f"\r\033[K{text}: {what}", end="", file=self.stream, flush=True)
        elif round_number != self.last_round:
            print(text, file=self.stream, flush=True)
        self.last_round = round_number

    def note(self, text):
        print(("\r\033[K" if self.terminal else "") + text, file=self.stream, flush=True)

    def end(self):
        if self.terminal:
            print("\r\033[K", end="", file=self.stream, flush=True)


def end_group(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.communicate(timeout=GRACE)
            return
        except subprocess.TimeoutExpired:
            continue


def wait_for(process, limit, at_once):
    """Its output. RunFailed after `limit` seconds, or sooner if it has printed its results `at_once` and does not exit."""
    begin, seen = time.monotonic(), b""
    while True:
        left = begin + limit - time.monotonic()
        try:
            return process.communicate(timeout=max(0, min(left, TO_END) if at_once else left))
        except subprocess.TimeoutExpired as late:
            printed = late.output or b""
            if left <= TO_END or not at_once:
                raise RunFailed(f"did not exit within {limit} s", printed) from late
            if printed and printed == seen:
                raise RunFailed("did not exit after its results, which are kept", printed) from late
            seen = printed


def output_of(command, limit, settings=(), clean_up=lambda: None, at_once=False, folder=None):
    """Stdout of a command, run in `folder`. If it takes too long, `clean_up` ends processes outside its group, and the group
    is ended."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(settings), start_new_session=True, cwd=folder)
    try:
        out, err = wait_for(process, limit, at_once)
    except BaseException:
        clean_up()
        end_group(process)
        raise
    if process.returncode != 0:
        raise RunFailed(f"ended with status {process.returncode}: {(err or out).strip()[-500:]}")
    return out


def execute(library, run, cores):
    with run.work_folder() as folder:
        begin = time.time_ns()
        output = output_of(library.command(run, cores), run.limit, library.settings, library.clean_up, run.at_once, folder)
        end = time.time_ns()
        lines = run.lines(output + run.written(folder), begin, end)
    if not lines:
        raise RunFailed("printed no result")
    return lines


def build(libraries, runs, folder, progress):
    """Builds the programs; returns the usable libraries, and the reasons for the others."""
    usable, absent = [], {}
    wanted = {run.program for run in runs}
    for library in libraries:
        try:
            missing = library.missing()
            if missing:
                raise RunFailed(f"{missing} is not installed")
            place = os.path.join(folder, library.key)
            os.makedirs(place)
            programs = BASELINE_PROGRAMS if library.key == BASELINE else MPI_PROGRAMS
            library.build([program for program in programs if program in wanted], place)
            library.check(place)
            usable.append(library)
        except (RunFailed, subprocess.SubprocessError) as reason:
            absent[library.key] = (getattr(reason, "stderr", None) or str(reason)).strip()
            progress.note(f"{library.title}: {absent[library.key]}")
    return usable, absent


class Plan(NamedTuple):
    """When to stop: after exactly `rounds` rounds, or, without a number, when every ratio has an interval narrower than `width`
    and after `seconds` at the latest. At least one round is complete."""
    rounds: Optional[int]
    seconds: float
    width: float
    seed: int


class Rounds:
    """In a round the libraries run each program one after the other, in an order drawn anew. `settled(results, key)` says
    whether the ratios of a point are exact enough. `baseline_ucx` returns the lines of one round without any library."""

    def __init__(self, libraries, runs, plan, cores, settled, baseline_ucx=None):
        self.libraries, self.runs, self.plan, self.cores = libraries, runs, plan, cores
        self.settled, self.baseline_ucx = settled, baseline_ucx
        self.results, self.failures = Results(), []
        self.keys = {run: set() for run in runs}  # points that each run has printed
        self.slow, self.abandoned = set(), set()
        self.number = 0  # of the last round
        self.order = random.Random(plan.seed)
        self.progress = Progress(plan)
        self.begin = time.monotonic()

    def participants(self, run):
        return [library for library in self.libraries
                if (library.key in run.only if run.only else library.key != BASELINE) and (library.key, run) not in self.abandoned]

    def one(self, library, run, number):
        begin = time.monotonic()
        try:
            lines = execute(library, run, self.cores)
        except RunFailed as reason:
            lines = reason.lines
            self.failures.append({"library": library.key, "run": run.title(), "round": number, "why": str(reason)})
            self.progress.note(f"{library.title}, {run.title()}: {reason}")
        for line in lines:
            self.results.add(library.key, run.ranks, line, number)
            self.keys[run].add(Key(line.name, run.ranks, line.size))
        if time.monotonic() - begin > SLOW:
            self.slow.add((library.key, run))

    def cannot_be_best(self, library, run):
        """At every point twice as bad as another peer. One without any figure cannot be the best either."""
        for key in self.keys[run]:
            figure = self.results.figure(library.key, key)
            others = [other for name, figures in self.results.libraries.items()
                      if name not in (library.key, ZIPMPI) and (other := figures.get(key))]
            if figure and not any(figure.worse_than_twice(other) for other in others):
                return False
        return True

    def abandon_slow(self, run, number):
        """A slow library that cannot be the best peer is not run more than ROUNDS_OF_SLOW times."""
        if number >= ROUNDS_OF_SLOW:
            for library in self.participants(run):
                if library.key != ZIPMPI and (library.key, run) in self.slow and self.cannot_be_best(library, run):
                    self.abandoned.add((library.key, run))

    def late(self):
        return self.plan.rounds is None and time.monotonic() - self.begin > self.plan.seconds

    def due(self, number):
        """The runs of a round. Runs that no ratio needs (of the baseline, or of one library) take part while others do."""
        runs = [run for run in self.runs if number <= run.max_rounds]
        if self.plan.rounds is not None:
            return runs if number <= self.plan.rounds else []
        if number <= MIN_PAIRS:
            return runs
        alone = [run for run in runs if len(self.participants(run)) < 2]
        wide = [run for run in runs if run not in alone and not all(self.settled(self.results, key) for key in self.keys[run])]
        return [run for run in runs if run in wide or run in alone] if wide else []

    def round(self, number, runs):
        for run in runs:
            if number > 1 and self.late():
                return
            participants = self.participants(run)
            self.order.shuffle(participants)
            for library in participants:
                self.progress.show(number, f"{library.title}, {run.title()}")
                self.one(library, run, number)
            self.abandon_slow(run, number)
        if self.baseline_ucx:
            for line in self.baseline_ucx():
                self.results.add(UCX, 2, line, number)

    def all(self):
        while (runs := self.due(self.number + 1)) and not (self.number and self.late()):
            self.number += 1
            self.round(self.number, runs)
        self.progress.end()
        return self.results
