# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compares mpi.h with the tables of spec/, and both with a copy of the published facts if there is one.

check_facts.py REPOSITORY        MPI_ABI_FACTS may name a folder with prototypes.tsv, constants.tsv, types.tsv
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "gen"))
sys.dont_write_bytecode = True

from zipmpi_gen import spec as spec_module  # noqa: E402
from zipmpi_gen.symbols import symbol_names  # noqa: E402

SPEC = spec_module.load(ROOT / "spec")
faults = []


def compare(what, left, right):
    for key in sorted(set(left) | set(right)):
        if left.get(key) != right.get(key):
            faults.append(f"{what}: {key}: {left.get(key)} is not {right.get(key)}")


def plain(text):
    return re.sub(r"\s*([*,()\[\]])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def argument_type(declaration):
    """The type without the name; int x[] equals int *x."""
    declaration = plain(declaration)
    if declaration in ("void", "..."):
        return declaration
    match = re.fullmatch(r"(.*?[ *])(\w+)((?:\[\d*\])*)", declaration)
    return match[1].strip() + match[3].replace("[]", "*", 1)


def signature(returns, arguments):
    return returns, tuple(argument_type(a) for a in arguments.split(","))


def header_prototypes(text):
    found = re.findall(r"^(\w+) (P?MPIX?_\w+)\(([^;]*?)\);", text, re.M)
    return {name: signature(returns, arguments) for returns, name, arguments in found}


def header_constants(text):
    macros = dict(re.findall(r"^#define (MPIX?_\w+) +(.*)$", text, re.M))
    enumerators = re.findall(r"^    (MPI_T_\w+) = (\w+),?$", text, re.M)
    values = {}
    for name, value in macros.items():
        cast = re.fullmatch(r"\(\(([\w*]+)\)\(?(-?\w+)\)?\)", value)
        values[name] = (cast[1], cast[2]) if cast else (None, value.strip("()"))
    values.update({name: (None, value) for name, value in enumerators})
    return values


def header_types(text):
    return {plain(t) for t in re.findall(r"^typedef ((?:[^{};]|\n)*);", text, re.M)}


def read_rows(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def typedef_of(row):
    return plain(re.sub(r"^(\w+) \((\w+)\)\(", r"\1 \2(", row))


def check_header(text):
    prototypes = header_prototypes(text)
    wanted = {p + e.name: signature(e.returns, e.arguments) for e in SPEC.entries for p in ("", "P")}
    compare("prototype", prototypes, wanted)
    compare("symbol", dict.fromkeys(prototypes), dict.fromkeys(symbol_names(SPEC)))
    constants = {c.name: (None if c.c_type in ("-", "int") else c.c_type, c.value) for c in SPEC.constants}
    compare("constant", header_constants(text), constants)
    for row in SPEC.typedefs:
        if typedef_of(row) not in header_types(text):
            faults.append(f"type: {row} is not in mpi.h")


def check_facts(folder):
    rows = [row.split("\t") for row in read_rows(folder / "prototypes.tsv")]
    compare("fact: prototype", {e.name: signature(e.returns, e.arguments) for e in SPEC.entries if e.function.chapter.number},
            {name: signature(returns, arguments) for name, returns, arguments in rows})
    compare("fact: constant", {c.name: (c.c_type, c.value) for c in SPEC.constants if not c.name.startswith(("MPIX_ERR_", "MPIX_FT"))},
            {name: (kind, value) for name, kind, value in (r.split("\t") for r in read_rows(folder / "constants.tsv"))})
    compare("fact: type", dict.fromkeys(SPEC.typedefs), dict.fromkeys(read_rows(folder / "types.tsv")))


# The rest of mpi.h is for programs in C and Fortran: it has no symbols and is not part of the ABI.
header_text = (ROOT / "include/mpi.h").read_text().split("/* --- conversion between C and Fortran")[0]
check_header(header_text)
published = os.environ.get("MPI_ABI_FACTS")
if published:
    check_facts(Path(published))
print("\n".join(faults) or f"{len(SPEC.entries)} prototypes, {len(SPEC.constants)} constants, {len(SPEC.typedefs)} types "
      f"agree; compared with published facts: {'yes' if published else 'no, MPI_ABI_FACTS is not set'}")
sys.exit(1 if faults else 0)
