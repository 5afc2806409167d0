# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages. python3 -m zipmpi_gen.manual SPEC DIR VERSION [BIN]: pages of section 3 from spec/, and with the
directory of the programs also those of sections 1 and 7."""

import sys
from collections import defaultdict
from pathlib import Path

from . import manual_fortran, manual_tools
from .roff import Page, quoted
from .spec import SpecError, load, read_rows
from .invalid_args import Call, can_be_called

OBJECTS = {"Comm": "communicator", "Datatype": "datatype", "Op": "operation", "Request": "request", "Group": "group",
           "Info": "hints, or MPI_INFO_NULL", "Win": "window", "File": "file", "Errhandler": "error handler",
           "Session": "session", "Message": "message of a matched probe"}
FORMS = {"buffer": "data", "count": "number", "length": "number of elements", "tag": "tag", "logical": "true or false",
         "status": "status of the operation", "string": "string", "string length": "length of a string",
         "function": "user function", "address": "address", "pointer": "pointer", "enum": "one of a list of values",
         "int": "number"}
DIRECTIONS = {"in": "in", "out": "out", "inout": "in, out"}
MARKS = {"root-only": "significant only at the root", "wild": "or a wildcard", "in-place": "or MPI_IN_PLACE",
         "optional": "may be the null handle or pointer", "automatic": "or MPI_BUFFER_AUTOMATIC"}


def meaning(param):
    if param.form == "rank":
        text = "rank of the root" if "root" in param.marks else "rank"
    elif param.form == "handle":
        text = OBJECTS.get(param.kind.detail, param.kind.detail)
    else:
        text = FORMS.get(param.form, "value")
    if param.is_array:
        text += f", an array of {param.length}" if param.length not in ("*", "") else ", an array"
    return ", ".join([text] + [words for mark, words in MARKS.items() if mark in param.marks])


def synopsis(page, entries):
    page.section("SYNOPSIS")
    page.raw(".B #include <mpi.h>\n.PP\n.nf\n")
    for entry in entries:
        head = f"{entry.returns} {entry.name}("
        arguments = [p.declaration(entry.wide) for p in entry.params] or ["void"]
        lines, indent = [head], " " * 8
        for i, argument in enumerate(arguments):
            text = argument + ("," if i + 1 < len(arguments) else ");")
            if len(lines[-1]) + len(text) > 76 and lines[-1].strip():
                lines.append(indent)
            lines[-1] += text if lines[-1].endswith(("(", indent)) else " " + text
        for line in lines:
            page.raw(f".B {quoted(line)}\n")
    page.raw(".fi\n")


def reason(param, wrong):
    """Description of a cause for the manual; invalid_args lists single values."""
    if wrong.value == "NULL":
        return f"{param.name} {wrong.text}"
    if param.form == "rank":
        return f"{param.name} is not a rank in the communicator"
    if param.form in ("count", "length"):
        return f"{param.name} is {'not positive' if param.kind.check == 'positive' else 'negative'}"
    if param.form == "tag":
        return f"{param.name} is not a tag from 0 to MPI_TAG_UB"
    if param.form == "enum":
        return f"{param.name} is not one of the valid values"
    return f"{param.name} {wrong.text}"


def errors(page, spec, entry):
    classes = defaultdict(list)
    if can_be_called(entry):
        for param in entry.params:
            for wrong in Call(spec, entry).wrong(param):
                words = reason(param, wrong)
                if words not in classes[wrong.error]:
                    classes[wrong.error].append(words)
    page.section("ERRORS")
    if entry.function.errors == "tool":
        page.text("A code of the tool interface (MPI_T_ERR_...) is returned; no error handler is called.")
    elif entry.function.returns:
        page.text("None.")
    else:
        page.text("Errors invoke the error handler of the object; the initial one ends the job with a message. "
                  "With MPI_ERRORS_RETURN the error class is returned:")
        for error, reasons in sorted(classes.items()):
            page.item(error, "; ".join(reasons) + ".")
        page.text("Other classes may be returned; the error string has the details.")


def notes(page, function):
    words = []
    if not function.implemented:
        words.append("Not implemented in this version: returns MPI_ERR_UNSUPPORTED_OPERATION.")
    if function.deprecated:
        words.append(f"Deprecated since MPI {function.deprecated}.")
    if function.anytime:
        words.append("May be called before MPI is initialized and after it is finalized.")
    if function.large:
        words.append("The _c form has 64-bit counts.")
    if words:
        page.section("NOTES")
        page.text(" ".join(words))


def function_page(spec, function, about, version):
    entries = [spec.by_name[function.name]] + ([spec.by_name[function.name + "_c"]] if function.large else [])
    page = Page(function.name, 3, version)
    page.section("NAME")
    page.raw(", ".join(e.name for e in entries) + " \\- " + quoted(about)[1:-1] + "\n")
    synopsis(page, entries)
    if entries[-1].params:
        page.section("PARAMETERS")
        for param in entries[-1].params:
            page.item(param.name, f"{DIRECTIONS[param.direction]}: {meaning(param)}", italic=True)
    errors(page, spec, entries[0])
    notes(page, function)
    page.section("SEE ALSO")
    page.text(f"The MPI standard, chapter {function.chapter.number}, {function.chapter.title}. zipmpi(1), "
              "zipmpi\\-parameters(7)." if function.chapter.number < 21 else
              "docs/guide/running.md: recovery after rank failures. zipmpi(1), zipmpi\\-parameters(7).", escaped=True)
    return page.finish()


def descriptions(path):
    table = dict(row.split("\t") for row in read_rows(path))
    for name, text in table.items():
        if text.endswith(".") or not text[0].islower():
            raise SpecError(f"{path}: {name}: must be a phrase without a full stop")
    return table


def function_pages(spec, about, version):
    names = [f.name for f in spec.functions]
    if set(names) != set(about):
        raise SpecError(f"descriptions.tsv and the tables differ: {sorted(set(names) ^ set(about))}")
    files = {}
    for function in spec.functions:
        files[f"man3/{function.name}.3"] = function_page(spec, function, about[function.name], version)
        if function.large:
            files[f"man3/{function.name}_c.3"] = f".so man3/{function.name}.3\n"
    return files


def main(arguments):
    spec_folder, out, version = arguments[:3]
    spec = load(spec_folder)
    files = function_pages(spec, descriptions(Path(spec_folder) / "descriptions.tsv"), version)
    files.update(manual_fortran.pages(spec, version))
    if len(arguments) > 3:
        files.update(manual_tools.pages(Path(arguments[3]), version))
    for name, text in files.items():
        path = Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
