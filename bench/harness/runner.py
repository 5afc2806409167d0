# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of a suite under every library alternately, round by round."""
import os
import signal
import subprocess
import sys
import time

from .targets import BASELINE, UCX
from .stats import Line, Results, parse
from .libraries import BASELINE_PROGRAMS, MPI_PROGRAMS, environment

GRACE = 5  # seconds for a launcher to clean up after SIGTERM
TO_END = 4  # seconds for a program to exit after its results
SLOW = 12  # seconds; longer runs are repeated ROUNDS_OF_SLOW times only
ROUNDS_OF_SLOW = 3


class RunFailed(Exception):
    """With its output if only its exit is missing: every line is a valid figure."""

    def __init__(self, why, printed=b""):
        super().__init__(why)
        self.lines = parse(printed.decode(errors="replace"))


class Progress:
    """One line that is rewritten on a terminal; otherwise one line per round."""

    def __init__(self, total, stream=sys.stderr):
        self.total, self.done, self.stream = total, 0, stream
        self.begin, self.terminal, self.last_round = time.monotonic(), stream.isatty(), 0

    @staticmethod
    def clock(seconds):
        return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"

    def show(self, round_number, rounds, what):
        passed = time.monotonic() - self.begin
        left = f", about {self.clock(passed / self.done * (self.total - self.done))} left" if self.done else ""
        text = f"round {round_number} of {rounds}, {self.clock(passed)}{left}"
        if self.terminal:
            filled = "#" * (24 * self.done // self.total)
            print(f"\r\033[K[{filled:<24}] {text}: {what}", end="", file=self.stream, flush=True)
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


def output_of(command, limit, settings=(), clean_up=lambda: None, at_once=False):
    """Stdout of a command. If it takes too long, `clean_up` ends processes outside its group, and the group is ended."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(settings), start_new_session=True)
    try:
        out, err = wait_for(process, limit, at_once)
    except BaseException:
        clean_up()
        end_group(process)
        raise
    if process.returncode != 0:
        raise RunFailed(f"ended with status {process.returncode}: {(err or out).strip()[-500:]}")
    return out


def startup_times(output, begin, ranks):
    """Seconds from the launcher's start until the last rank had left MPI_Init."""
    lines = [line.split() for line in output.splitlines() if line.startswith("startup ")]
    if len(lines) != ranks:
        raise RunFailed(f"{len(lines)} of {ranks} ranks answered")
    return [Line("startup", 0, (max(int(line[4]) for line in lines) - begin) / 1e9, "s")]


def execute(library, run, cores):
    begin = time.time_ns()
    output = output_of(library.command(run, cores), run.limit, library.settings, library.clean_up, run.at_once)
    lines = startup_times(output, begin, run.ranks) if run.program == "startup" else parse(output)
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
            usable.append(library)
        except (RunFailed, subprocess.CalledProcessError) as reason:
            absent[library.key] = getattr(reason, "stderr", None) or str(reason)
            progress.note(f"{library.title}: {absent[library.key]}")
    return usable, absent


class Rounds:
    """`baseline_ucx` returns the lines of one round without any library, if available."""

    def __init__(self, libraries, runs, rounds, cores, baseline_ucx=None):
        self.libraries, self.runs, self.rounds, self.cores = libraries, runs, rounds, cores
        self.baseline_ucx = baseline_ucx
        self.results, self.failures, self.slow = Results(), [], set()
        self.progress = Progress(rounds * sum(len(self.participants(run)) for run in runs))

    def participants(self, run):
        return [library for library in self.libraries
                if (library.key in run.only if run.only else library.key != BASELINE)]

    def due(self, library, run, number):
        return number <= run.max_rounds and not (number > ROUNDS_OF_SLOW and (library.key, run) in self.slow)

    def one(self, library, run, number):
        begin = time.monotonic()
        try:
            lines = execute(library, run, self.cores)
        except RunFailed as reason:
            lines = reason.lines
            self.failures.append({"library": library.key, "run": run.title(), "round": number, "why": str(reason)})
            self.progress.note(f"{library.title}, {run.title()}: {reason}")
        for line in lines:
            self.results.add(library.key, run.ranks, line)
        if time.monotonic() - begin > SLOW:
            self.slow.add((library.key, run))

    def all(self):
        for number in range(1, self.rounds + 1):
            for run in self.runs:
                for library in self.participants(run):
                    self.progress.show(number, self.rounds, f"{library.title}, {run.title()}")
                    if self.due(library, run, number):
                        self.one(library, run, number)
                    self.progress.done += 1
            if self.baseline_ucx:
                for line in self.baseline_ucx():
                    self.results.add(UCX, 2, line)
        self.progress.end()
        return self.results
