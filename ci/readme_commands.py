#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: ci/readme_commands.py build|test|install|program

Prints the commands of README.md's first section verbatim: those up to the build, the tests, or the installation with the
first program; or only that program. Exits with 1 if the section has a command that belongs to none of them.
"""
import pathlib
import re
import sys

PARTS = {  # prefixes of commands, in the order of README.md
    "build": ("sudo ci/install_packages.sh", "cmake --preset release", "cmake --build build/release"),
    "test": ("ctest --test-dir build/release",),
    "install": ("sudo cmake --install build/release", "export PATH=", "mpicc hello.c && mpiexec"),
}


def section_blocks(text):
    """(language, text) of the fenced blocks in the section about the quick start."""
    section = re.search(r"^## Quick start$(.*?)^## ", text, re.M | re.S)
    return re.findall(r"^```(\w+)\n(.*?)^```$", section[1], re.M | re.S) if section else []


def commands(blocks):
    for language, text in blocks:
        if language == "sh":
            for line in text.splitlines():
                command = re.sub(r"\s+#.*", "", line).strip()
                if command:
                    yield command


def main():
    blocks = section_blocks((pathlib.Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8"))
    found = {part: [] for part in PARTS}
    for command in commands(blocks):
        parts = [p for p, beginnings in PARTS.items() if command.startswith(beginnings)]
        if not parts:
            sys.exit(f"README.md: '{command}' belongs to no part of ci/readme_commands.py")
        found[parts[0]].append(command)
    for part, beginnings in PARTS.items():
        if len(found[part]) != len(beginnings):
            sys.exit(f"README.md: for '{part}' it has {found[part]}, not the {len(beginnings)} commands {beginnings}")
    program = [text for language, text in blocks if language == "c"]
    if sys.argv[1:] == ["program"]:
        print(program[0], end="")
    elif len(sys.argv) == 2 and sys.argv[1] in PARTS:
        if sys.argv[1] == "install":
            found["install"].insert(-1, f"cd \"$(mktemp -d)\"\ncat >hello.c <<'END_OF_FILE'\n{program[0]}END_OF_FILE")
        print("\n".join(found[sys.argv[1]]))


main()
