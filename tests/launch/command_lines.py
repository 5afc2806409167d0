# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command lines and the resulting plans: reads, runs and writes command_lines.txt.

usage: command_lines.py --update    writes the current plans into the file, for review with git diff
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

from harness import LOCAL_AGENT, MPIEXEC, environment

HERE = pathlib.Path(__file__).resolve().parent
PATH = HERE / "command_lines.txt"
SECONDS = 30


@dataclass
class Block:
    """'% NAME=value' lines, a '$' line, the plan ('!' lines of an error), and '>' lines of output when it runs."""
    section: str
    command: str
    env: list = field(default_factory=list)
    plan: list = field(default_factory=list)
    output: list = field(default_factory=list)

    def text(self):
        lines = [f"% {e}" for e in self.env] + [f"$ {self.command}"] + self.plan + [f"> {o}".rstrip() for o in self.output]
        return "\n".join(lines) + "\n"

    @property
    def starts(self):
        return bool(self.output)


def read(text):
    """The files ('@ name' and lines up to an empty one) and the blocks."""
    files, blocks, section, env = {}, [], "", []
    lines = iter(text.splitlines())
    for line in lines:
        mark, rest = line[:1], line[2:]
        if line.startswith("## "):
            section = line[3:]
        elif mark == "@":
            files[rest] = "".join(f"{body}\n" for body in iter(lambda: next(lines, ""), ""))
        elif mark == "%":
            env.append(rest)
        elif mark == "$":
            blocks.append(Block(section, rest, env))
            env = []
        elif mark == ">":
            blocks[-1].output.append(rest)
        elif line and mark != "#":
            blocks[-1].plan.append(line)
    return files, blocks


class Place:
    """A directory with the files that the command lines name."""

    def __init__(self, files):
        self.directory = tempfile.TemporaryDirectory(prefix="command-lines-")
        for name, text in files.items():
            (pathlib.Path(self.directory.name) / name).write_text(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def run(self, block, *first):
        env = {k: v for k, v in environment().items() if not k.startswith(("OMPI_", "PRTE_", "HYDRA_", "I_MPI_", "ZIPMPI_"))}
        for name in ("DISPLAY", "TMUX", "SLURM_JOB_NODELIST", "PBS_NODEFILE", "PE_HOSTFILE", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS",
                     "OAR_NODEFILE", "OAR_NODE_FILE"):
            env.pop(name, None)
        env.update(NOT_LISTED="set", HOME="/nowhere")
        env.update(e.split("=", 1) for e in block.env)
        words = [LOCAL_AGENT if w == "$AGENT" else w for w in shlex.split(block.command)]
        return subprocess.run([MPIEXEC, *first, *words], cwd=self.directory.name, env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=SECONDS)

    def plan(self, block):
        """Output of --dry-run, or '! what / why / fix' of the error message."""
        done = self.run(block, "--dry-run")
        if done.returncode == 0:
            lines = done.stdout.splitlines()
        else:
            parts = dict(line.strip().split(":", 1) for line in done.stderr.splitlines() if ":" in line)
            lines = [f"! {parts.get(key, '').strip()}" for key in ("mpiexec", "why", "fix")]
        if done.returncode == 0 and done.stderr:
            lines.append("stderr " + done.stderr)
        return [line.replace(LOCAL_AGENT, "$AGENT") for line in lines]


def update():
    files, blocks = read(PATH.read_text())
    head = PATH.read_text().split("## ", 1)[0]
    text, section = head, ""
    with Place(files) as place:
        for block in blocks:
            if block.section != section:
                text, section = text + f"## {block.section}\n\n", block.section
            block.plan = place.plan(block)
            if block.starts or "sh -c" in block.command or "run" in block.command:
                done = place.run(block)
                block.output = sorted(done.stdout.splitlines()) if done.returncode == 0 else []
            text += block.text() + "\n"
    PATH.write_text(text.rstrip() + "\n")


if __name__ == "__main__" and sys.argv[1:] == ["--update"]:
    update()
