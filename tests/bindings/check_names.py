#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_names.py BINDINGS STANDARD [--update]
Compares the names that the libraries below the folder BINDINGS export with the lists of names/, which change only by hand or by
--update. A list needed_by_<file> has what a library of the other MPI imports. Every function of STANDARD is in each binding."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

LISTS = Path(__file__).parent / "names"
LIBRARIES = {"openmpi": ("libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_cxx.so.40"), "mpich": ("libmpich.so.12",)}
COMPANIONS = {"openmpi": ("libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"),
              "mpich": ("libmpichfort.so.12", "libmpichcxx.so.12")}
EMPTY = ("openmpi/runtime/libopen-rte.so.40", "openmpi/runtime/libopen-pal.so.40")
FORBIDDEN = {"ompi_mpi_init", "MPID_Abort"}  # PETSc ends a program that finds both
HEAD = """\
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
# {what}
# [c] MPI_x stands for MPI_x and PMPI_x, [fortran] for all forms of a Fortran procedure, [names] for itself.
"""


def c_forms(name):
    return {name, "P" + name}


def fortran_forms(name):
    forms = {f"o{name.lower()}_f"}
    for long in (name, "P" + name):
        forms |= {long.lower(), long.lower() + "_", long.lower() + "__", long.upper(), long + "_f", long + "_f08"}
    return forms


FORMS = {"c": c_forms, "fortran": fortran_forms, "names": lambda name: {name}}


def compact(names):
    """The sections of a list."""
    left, sections = set(names), {section: [] for section in FORMS}
    for section in ("fortran", "c"):
        for name in sorted(n.removesuffix("_f") if section == "fortran" else n for n in names if n.startswith("MPI")):
            if FORMS[section](name) <= left:
                sections[section].append(name)
                left -= FORMS[section](name)
    sections["names"] = sorted(left)
    return sections


def write(path, what, names):
    text = HEAD.format(what=what)
    for section, listed in compact(names).items():
        if listed:
            text += f"[{section}]\n" + textwrap.fill(" ".join(listed), 120, break_on_hyphens=False) + "\n"
    path.write_text(text, encoding="utf-8")


def read(path):
    names, section = set(), None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif not line.startswith("#"):
            names.update(*(FORMS[section](name) for name in line.split()))
    return names


def symbols(library):
    """Exported and imported names."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    rows = [(row[6], row[7]) for row in rows if len(row) > 7 and re.fullmatch(r"\d+:", row[0])]
    return {name for place, name in rows if place != "UND"}, {name for place, name in rows if place == "UND"}


def compared(name, now, update, what):
    """Differences between a list and the names of now."""
    if update:
        write(LISTS / (name + ".txt"), what, now)
    listed = read(LISTS / (name + ".txt"))
    return [f"{name}: {n} is in the list only" for n in sorted(listed - now)] + [
        f"{name}: {n} is not in the list" for n in sorted(now - listed)]


def update_needs(companion):
    """Of the library that is installed."""
    found = sorted(Path("/usr/lib").glob(f"*/{companion}"))
    needs = {n for n in symbols(found[0])[1] if re.match(r"(?i)[po]?mpi|mpi[irx]_", n)}
    write(LISTS / f"needed_by_{companion}.txt", f"What {companion} of Debian 12 imports from libraries of MPI.", needs)


def main():
    bindings, standard = (Path(p) for p in sys.argv[1:3])
    update, faults = "--update" in sys.argv[3:], []
    functions = {n for n in symbols(standard)[0] if re.match("P?MPIX?_[A-Z]", n)}
    for binding, libraries in LIBRARIES.items():
        exported = {library: symbols(bindings / binding / library)[0] for library in libraries}
        for library, names in exported.items():
            faults += compared(library, names, update, f"Names that {library} exports.")
            faults += [f"{library} exports {n}" for n in sorted(names & FORBIDDEN)]
        faults += [f"{libraries[0]} lacks {n}" for n in sorted(functions - exported[libraries[0]])]
        for companion in COMPANIONS[binding]:
            if update:
                update_needs(companion)
            needs = read(LISTS / f"needed_by_{companion}.txt")
            faults += [f"{companion} needs {n}" for n in sorted(needs - set().union(*exported.values()))]
    faults += [f"{file} exports {n}" for file in EMPTY for n in sorted(symbols(bindings / file)[0])]
    print("\n".join(faults) or "the names are those of the lists")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
