#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A folder includes only the layers that the table allows. The build enforces this through include directories; this check
also covers files that are not compiled here, and reports in one line."""
import re
import sys

from common import Findings, ROOT, own_files, relative

FLOOR = {"base", "os"}
MAY_INCLUDE = {
    "src/base": {"base"},
    "src/os": FLOOR,
    "src/packing": FLOOR | {"packing"},
    "src/wire": FLOOR | {"wire"},
    "src/segment": FLOOR | {"wire", "segment"},
    "src/hwtopo": FLOOR | {"wire", "segment", "hwtopo"},
    "src/boot": FLOOR | {"wire", "segment", "boot"},
    "src/mapping": FLOOR | {"wire", "hwtopo", "mapping"},
    "src/transport": FLOOR | {"wire", "segment", "transport", "hwtopo"},
    "src/bridge": FLOOR | {"wire", "transport", "bridge"},
    "src/transport/interjob": FLOOR | {"wire", "transport", "interjob"},
    "src/proto": FLOOR | {"wire", "segment", "transport", "proto", "hwtopo", "packing"},
    "src/core": FLOOR | {"wire", "transport", "interjob", "bridge", "proto", "core", "segment", "boot", "hwtopo", "mapping", "names", "packing"},
    "src/trace": FLOOR | {"wire", "names", "trace"},
    "src/abi": FLOOR | {"core", "abi", "binding", "names"},
    "launch": FLOOR | {"wire", "segment", "boot", "bridge", "hwtopo", "mapping", "names", "launch"},
    "tools": FLOOR | {"wire", "segment", "boot", "bridge", "hwtopo", "mapping", "transport", "proto", "core", "names", "launch", "gateway"},
    "gateway": FLOOR | {"wire", "segment", "boot", "transport", "bridge", "launch", "gateway"},
}
LAYERS = set().union(*MAY_INCLUDE.values())
# transport/interjob is a layer of its own inside the folder of transport
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?:transport/(?=interjob/))?(?P<layer>[a-z0-9_]+)/')


def folder_of(name):
    for folder in sorted(MAY_INCLUDE, key=len, reverse=True):
        if name.startswith(folder + "/"):
            return folder
    return None


def violations(name, text):
    folder = folder_of(name)
    if folder is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match and match["layer"] in LAYERS and match["layer"] not in MAY_INCLUDE[folder]:
            yield number, f"{folder} may not include {match['layer']}; it may include {sorted(MAY_INCLUDE[folder])}"


def self_test():
    assert list(violations("src/base/x.hpp", '#include "core/api/common.hpp"\n'))
    assert list(violations("src/transport/shm/x.cpp", ' # include "proto/x.hpp"\n'))
    assert list(violations("gateway/daemon/x.cpp", '#include "core/x.hpp"\n'))
    assert list(violations("src/proto/x.cpp", '#include "transport/interjob/x.hpp"\n'))
    assert not list(violations("src/core/y.cpp", '#include "transport/interjob/x.hpp"\n'))
    assert not list(violations("src/core/x.cpp", '#include "boot/job.hpp"\n#include "core/api/common.hpp"\n'))
    assert not list(violations("tests/x.cpp", '#include "core/api/common.hpp"\n'))


def main():
    self_test()
    findings = Findings("layers")
    files = own_files(".hpp", ".cpp", ".h", ".c")
    for path in files:
        for number, text in violations(relative(path), path.read_text(encoding="utf-8")):
            findings.error(path, number, text)
    known = {folder.removeprefix("src/") for folder in MAY_INCLUDE if folder.startswith("src/")}
    for folder in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
        if folder.name not in known:
            findings.error(folder, 1, "this layer is not in the table of cmake/checks/layers.py")
    findings.finish(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
