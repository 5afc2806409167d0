# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m zipmpi_gen SPEC header DIR | library DIR | probes DIR | fortran DIR | binding DIR ABI"""

import sys
from pathlib import Path

from . import binding_header, device_calls, entries, fortran_binding, fortran_files, freeing, header, interpose, names, probes, symbols, values, invalid_args
from .spec import SpecError, load


def abi_files(spec):
    files = {
        "abi/abi_values.hpp": values.abi_values_hpp(spec),
        "abi/exports.map": symbols.version_script(spec),
        "abi/symbols.txt": symbols.symbol_list(spec),
        "trace/wrappers.cpp": interpose.wrapper_file(spec),
    }
    for chapter in spec.chapters:
        files[f"abi/entries_{chapter.key}.cpp"] = entries.chapter_file(spec, chapter)
    return files


def library_files(spec):
    return {"names/function_table.hpp": names.function_table_hpp(spec),
            "names/function_table.cpp": names.function_table_cpp(spec), **abi_files(spec)}


def binding_files(spec):
    """The library for another ABI."""
    files = {"mpi.h": binding_header.mpi_h(spec), **abi_files(spec)}
    if spec.abi.objects:
        files |= fortran_binding.files(spec)
        files["abi/objects.cpp"] = binding_header.objects_cpp(spec)
        files["abi/fortran_handles.hpp"] = binding_header.fortran_handles_hpp(spec)
    return files


def probe_files(spec):
    return {"layout_probe.c": probes.layout_probe(spec), "missing_probe.c": probes.missing_probe(spec),
            "invalid_args.inc": invalid_args.invalid_args(spec), "freeing_entries.cpp": freeing.freeing_entry_file(spec),
            "freeing_calls.inc": freeing.freeing_calls(spec), "device_calls.inc": device_calls.device_calls(spec)}


def header_files(spec):
    return {"mpi.h": header.header(spec), "mpif.h": fortran_files.mpif_h(spec)}


FOLDERS = {"header": header_files, "library": library_files, "probes": probe_files,
           "fortran": fortran_files.fortran_files, "binding": binding_files}


def write(folder, files):
    """Writes only files whose content changed, to avoid rebuilds."""
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def main(arguments):
    if len(arguments) not in (3, 4) or arguments[1] not in FOLDERS:
        print(__doc__, file=sys.stderr)
        return 2
    spec_folder, what, where, *binding = arguments
    try:
        spec = load(spec_folder, *binding)
        write(where, FOLDERS[what](spec))
    except SpecError as error:
        print(f"gen: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
