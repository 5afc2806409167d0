# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""check_exports.py LIBRARY SONAME VERSION_SCRIPT IMPORTED.tsv [OBJECTS.tsv]
The library exports exactly the names of its version script, among them all that Debian's programs import, functions PMPI_x
strong and MPI_x weak; its variables have the sizes of the other library, and it has no symbol versions."""

import re
import subprocess
import sys
from pathlib import Path


def rows(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def main():
    library, soname, script, imported, *objects = sys.argv[1:]
    text = subprocess.run(["readelf", "-W", "--dyn-syms", "-d", library], check=True, capture_output=True, text=True).stdout
    exported = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 8 and re.fullmatch(r"\d+:", fields[0]) and fields[6] != "UND":
            exported[fields[7]] = {"size": int(fields[2], 0), "type": fields[3], "bind": fields[4]}
    wanted = set(re.findall(r"^\s+([\w]+);", Path(script).read_text(encoding="utf-8"), re.MULTILINE))
    faults = [f"missing: {name}" for name in sorted(wanted - exported.keys())]
    faults += [f"not in the version script: {name}" for name in sorted(exported.keys() - wanted)]
    faults += [f"has a symbol version: {name}" for name in exported if "@" in name]
    if f"[{soname}]" not in text:
        faults.append(f"the soname is not {soname}")
    for name, provider, size in rows(imported):
        if provider != soname:
            continue
        if name not in exported:
            faults.append(f"a program imports {name}")
        elif size not in ("-", "") and exported[name]["size"] != int(size):
            faults.append(f"{name} has {exported[name]['size']} bytes instead of {size}")
    for name, size, _ in (row for path in objects for row in rows(path)):
        if exported.get(name, {}).get("size") != int(size):
            faults.append(f"{name} does not have {size} bytes")
    for name, symbol in exported.items():
        if symbol["type"] == "FUNC" and name.startswith("MPI_") and "P" + name in exported and symbol["bind"] != "WEAK":
            if name.upper() != name and not re.search(r"_f(08)?$", name):  # a name of Fortran
                faults.append(f"{name} must be weak")
    print("\n".join(faults) or f"{len(exported)} names")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
