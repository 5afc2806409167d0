# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""usage: flags.py BUILD_DIR

The compiler accepts every set of warning flags in use, for C and for C++. Under ccache an invalid one (-Wnon-virtual-dtor for
C) is only a warning even with -Werror, and a user without ccache gets the error.
"""
import json
import os
import shlex
import subprocess
import sys


def calls(build):
    """Each set of compiler, language and warning flags, with a file that uses it."""
    found = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        for entry in json.load(f):
            arguments = shlex.split(entry["command"])
            if os.path.basename(arguments[0]) == "ccache":
                arguments = arguments[1:]
            flags = tuple(w for w in arguments if w.startswith("-W") and not w.startswith(("-Wl,", "-Wp,", "-Wa,")))
            language = "c" if entry["file"].endswith(".c") else "c++"
            found.setdefault((arguments[0], language, flags), entry["file"])
    return found


def main(build):
    faults = 0
    found = calls(build)
    for (compiler, language, flags), file in found.items():
        ran = subprocess.run([compiler, *flags, "-Werror", "-x", language, "-fsyntax-only", "-"], input="extern int nothing;\n",
                             capture_output=True, text=True, env=dict(os.environ, CCACHE_DISABLE="1"), check=False)
        if ran.returncode != 0 or ran.stderr:
            faults += 1
            print(f"{file}: {compiler} refuses {' '.join(flags)}:\n{ran.stderr}")
    print(f"flags: {len(found)} sets, {faults} refused")
    return 1 if faults or not any(language == "c" for _, language, _ in found) else 0


sys.exit(main(sys.argv[1]))
