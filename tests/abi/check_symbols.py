# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""check_symbols.py LIBRARY LIST: the library exports exactly the names of the list."""

import subprocess
import sys
from pathlib import Path

DATA = "BD"  # symbols for debuggers: not functions, which tools may replace

library, listing = sys.argv[1:]
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = {line.split()[-1]: line.split()[-2] for line in lines.splitlines()}
wanted = set(Path(listing).read_text().split())
faults = [f"missing: {name}" for name in sorted(wanted - set(exported))]
faults += [f"not an MPI name: {name}" for name in sorted(set(exported) - wanted)]
faults += [f"{name} must be {'strong' if name.startswith('P') else 'weak'}" for name, kind in sorted(exported.items())
           if name in wanted and kind not in DATA and kind != ("T" if name.startswith("P") else "W")]
print("\n".join(faults) or f"{len(exported)} names, all of the ABI")
sys.exit(1 if faults else 0)
