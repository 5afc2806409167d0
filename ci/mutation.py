#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: ci/mutation.py BUILD [--minutes N] [--seed N] [--folder FOLDER]... [--at FILE[:LINE]]
Mutation testing: changes one condition, constant or memory order of a source file, builds the tests of its folder with it and runs
them, then programs of tests/mpi with the changed library. Lists the changes that no test noticed. BUILD: a build directory with
tests. The seed determines the sequence of changes."""
import argparse
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Folder: (objects in which the sources are compiled, executable, arguments), cheapest first.
EXPLORERS = [("explored.dir", f"explore_{subject}", []) for subject in ("cells", "sleep", "lock")]
SEEDS = ["bridge", "1", "300"]
TESTS = {
    "src/transport/shm": [("zipmpi_transport.dir", "transport_test", []), ("zipmpi_transport.dir", "proto_test", [])] + EXPLORERS[:2],
    "src/proto/p2p": [("zipmpi_proto.dir", "proto_test", [])],
    "src/proto/rma": [("zipmpi_proto.dir", "proto_test", []), EXPLORERS[2]],
    "src/proto/progress": [("zipmpi_proto.dir", "proto_test", [])],
    "src/bridge": [("zipmpi_bridge.dir", "bridge_test", []), ("zipmpi_bridge.dir", "simulate_job", SEEDS),
                   ("zipmpi_bridge.dir", "explore_endpoints", ["1"])],
    "gateway": [("zipmpi_gateway.dir", "gateway_test", []), ("zipmpi_gateway.dir", "simulate_job", SEEDS)],
    "launch/protocol": [("zipmpi_launch.dir", "launch_test", [])],
}
# Folder: ctest's names of programs to be run with the changed library
LIBRARY = "libmpi_abi.so.1"
MESSAGES = (r"^mpi\.(random_messages\.(2|3|no_cma|no_budget|cma\.threads|rendezvous|mpsc\.5|expected\.5|all_rings\.2|threads\.2)|expected\.bursts|"
            r"buffered\.2|cancel\.4|unexpected.*|partitioned\.2|yielding.*|polling|late_wakeup|fault_tolerance\.(point_to_point|revoke).*)$")
PROGRAMS = {
    "src/transport/shm": MESSAGES,
    "src/proto/p2p": MESSAGES,
    "src/proto/progress": MESSAGES,
    "src/proto/rma": r"^mpi\.(windows.*|random_windows\..*|expected\.(random_)?windows.*|fault_tolerance\.windows.*)$",
}
RULES = [(" == ", " != "), (" != ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
         (" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (" - ", " + "), (r"\+\+", "--"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
         (r"\breturn 0;", "return 1;"), (r" = 0;", " = 1;"), (r"std::min\b", "std::max"), (r"std::max\b", "std::min"),
         (r"(?m)\bif \((?=[^;\n]*$)", "if (!("), (r"memory_order_(seq_cst|acquire|release|acq_rel)", "memory_order_relaxed"),
         (r"(?m)^ +[A-Za-z_.>:-]+\([^;{}=]*\);$", ";")]
LIBRARY_OBJECTS = r"/(zipmpi_(transport|proto|core|bridge|gateway|launch)|mpi_abi)\.dir/"
MOST_OBJECTS = 20  # that are compiled again for one change of a header; changes of headers with more are not tried
SECONDS = 60  # for one run of one test, or of the programs


class Mutant:
    def __init__(self, path, rule, start, end, text):
        self.path, self.start, self.end = path, start, end
        self.line = text.count("\n", 0, start) + 1
        new, rest = RULES[rule][1], text[end:]
        if new == "if (!(":  # closes the second bracket, too
            depth = at = 0
            while depth >= 0:
                depth += {"(": 1, ")": -1}.get(rest[at], 0)
                at += 1
            rest = rest[:at] + ")" + rest[at:]
        self.text = text[:start] + new + rest
        self.change = f"'{text[start:end].strip()}' -> '{new.strip()}'"

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.change}"


def mutants_of(path):
    text = path.read_text(encoding="utf-8")
    for rule, (pattern, _) in enumerate(RULES):
        for m in re.finditer(pattern, text):
            line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.start())]
            code = line[:m.start() - text.rfind("\n", 0, m.start())]
            if not line.lstrip().startswith(("//", "#", "template", "static_assert", "using")) and "//" not in code:
                yield Mutant(path, rule, m.start(), m.end(), text)


class Build:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = folder, scratch
        self.compiled = json.loads((folder / "compile_commands.json").read_text())
        for command in self.compiled:  # older versions of CMake do not write it
            command["output"] = re.search(r" -o (\S+)", command["command"])[1]
        self.links = {}
        self.dependents = {}  # header: outputs

    def commands(self, path, objects):
        """Those that compile the source into objects of this name (regular expression), or the header into them and into tests of its
        folder; none if they are many."""
        if path.suffix == ".cpp":
            return [c for c in self.compiled if c["file"] == str(path) and re.search(objects, c["output"])][:1]
        if not self.dependents:
            self.read_dependents()
        outputs = self.dependents.get(str(in_library(path)), set())
        users = [c for c in self.compiled if c["output"] in outputs and (re.search(objects, c["output"]) or (
            c["file"].endswith("_test.cpp") and pathlib.Path(c["file"]).parent == path.parent))]
        return users if len(users) <= MOST_OBJECTS else []

    def read_dependents(self):
        lines = subprocess.run(["ninja", "-C", self.folder, "-t", "deps"], capture_output=True, text=True, check=True).stdout
        output = ""
        for line in lines.splitlines():
            if line.startswith(" "):
                self.dependents.setdefault(re.sub(r"^ *(.*/header_view/[^/]+|" + str(ROOT) + ")/", "", line), set()).add(output)
            else:
                output = line.split(":")[0]

    def compile(self, command, source, number, header=None):
        """The object file, or None. header: a changed header that replaces the original."""
        words = shlex.split(command["command"])
        if os.path.basename(words[0]) == "ccache":
            words = words[1:]
        out = self.scratch / f"{number}.o"
        words[words.index("-o") + 1] = str(out)
        words[words.index("-c") + 1] = str(source)
        overlay = [f"-I{header}"] if header else []
        done = subprocess.run([words[0], *overlay, *words[1:], "-w", "-Wno-error"], cwd=command["directory"], capture_output=True, check=False)
        return out if done.returncode == 0 else None

    def link_words(self, target):
        if target not in self.links:
            lines = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target], capture_output=True, text=True, check=True).stdout
            command = lines.strip().splitlines()[-1]
            self.links[target] = shlex.split(next(part for part in command.split("&&") if " -o " in part))
        return list(self.links[target])

    def link(self, target, objects, replaced, name):
        """objects: before all others. replaced: {path of an object in the build: new object}"""
        words = [str(replaced.get(word, word)) for word in self.link_words(target)]
        words[words.index("-o") + 1] = str(self.scratch / name)
        done = subprocess.run([words[0], *map(str, objects), *words[1:]], cwd=self.folder, capture_output=True, check=False)
        return done.returncode == 0


def in_library(path):
    """The name of a header in #include."""
    return path.relative_to(ROOT / "src") if path.is_relative_to(ROOT / "src") else path.relative_to(ROOT)


def compile_mutant(build, mutant, objects):
    """New objects, and those that replace one of the build: {its path: new object}. None if it cannot be compiled."""
    changed, replaced = [], {}
    header = None
    if mutant.path.suffix == ".cpp":
        source = build.scratch / mutant.path.name
        source.write_text(mutant.text, encoding="utf-8")
        commands = [(c, source) for c in build.commands(mutant.path, objects)]
    else:
        header = build.scratch / "include"
        copy = header / in_library(mutant.path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(mutant.text, encoding="utf-8")
        commands = [(c, c["file"]) for c in build.commands(mutant.path, objects)]
    try:
        for number, (command, source) in enumerate(commands):
            made = build.compile(command, source, number, header)
            if made is None:
                return None
            if command["file"].endswith("_test.cpp"):
                replaced[command["output"]] = made
            else:
                changed.append(made)
    finally:
        if header:
            copy.unlink()
    return (changed, replaced) if changed or replaced else None


def passes(command, folder, env=None):
    """Whether it ends with 0 in time."""
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait(SECONDS) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False


def programs_pass(build, names):
    env = dict(os.environ, LD_LIBRARY_PATH=str(build.scratch), ZIPMPI_INSTALL_MODULE_DIR=str(build.folder / "lib/zipmpi"))
    return passes(["ctest", "--test-dir", build.folder, "--stop-on-failure", "-j2", "-R", names], build.scratch, env)


def judge(build, mutant, folder):
    """killed, survived or invalid."""
    if not build.commands(mutant.path, LIBRARY_OBJECTS):
        return "invalid"
    survived = False
    compiled = {}
    for objects, target, arguments in TESTS[folder]:
        if objects not in compiled:
            compiled[objects] = compile_mutant(build, mutant, objects)
        if compiled[objects] is None or not build.link(target, *compiled[objects], "test"):
            continue
        if not passes([build.scratch / "test", *arguments], build.scratch):
            return "killed"
        survived = True
    if folder in PROGRAMS:
        library = compile_mutant(build, mutant, LIBRARY_OBJECTS)
        if library is not None and build.link("lib/" + LIBRARY + ".0", library[0], {}, LIBRARY):
            if not programs_pass(build, PROGRAMS[folder]):
                return "killed"
            survived = True
    return "survived" if survived else "invalid"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options.add_argument("--folder", action="append", choices=sorted(TESTS), help="default: all, in turn")
    options.add_argument("--at", help="FILE or FILE:LINE: only the changes of this file or line")
    given = options.parse_args()
    folders = given.folder or sorted(TESTS)
    if given.at:
        folders = [f for f in folders if given.at.startswith(f + "/")]
    rng, end = random.Random(given.seed), time.monotonic() + 60 * given.minutes
    print(f"seed {given.seed}", flush=True)
    pools = {}
    for folder in folders:
        files = [p for p in sorted((ROOT / folder).glob("*.[ch]pp")) if not re.search("_test|test_|simulation", p.name)]
        pools[folder] = [m for p in files for m in mutants_of(p)
                         if not given.at or given.at in (str(p.relative_to(ROOT)), f"{p.relative_to(ROOT)}:{m.line}")]
        rng.shuffle(pools[folder])
    counts = {folder: {"killed": 0, "survived": 0, "invalid": 0} for folder in folders}
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as scratch:
        build = Build(given.build.resolve(), pathlib.Path(scratch))
        for names in {PROGRAMS[folder] for folder in folders if folder in PROGRAMS}:
            if not programs_pass(build, names):
                sys.exit(f"programs fail without a change: {names}")
        while time.monotonic() < end and any(pools.values()):
            for folder in [f for f in folders if pools[f]]:
                mutant = pools[folder].pop()
                verdict = judge(build, mutant, folder)
                counts[folder][verdict] += 1
                if verdict == "survived":
                    survivors.append(mutant)
                    print(f"survived {mutant}", flush=True)
                if time.monotonic() >= end:
                    break
    for folder, c in counts.items():
        tried = c["killed"] + c["survived"]
        score = f"{100 * c['killed'] // tried} %" if tried else "-"
        print(f"{folder}: {tried} changes, {c['killed']} noticed ({score}), {c['invalid']} did not build or are not tested")
    return 0


if __name__ == "__main__":
    sys.exit(main())
