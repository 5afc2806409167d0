# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every function that may take away the handle it is given, once more with an error in it: the engine does its work, then
says that it has failed. tests/abi/freeing.c makes the objects and looks at what the caller and its error handler see. The
functions are found by their parameters, so that a new one is tested as soon as it is in the tables; one that takes a new
kind of handle does not compile before the test can make that."""

from .entries import FILE, call_body, definition_arguments
from .text import cpp_head, wrap_call
from .wrong_calls import Call

CALLS = """\
{calls}
static const struct Freeing freeing_functions[] = {{
{rows}}};
"""
SPOILED = """\
static Err spoiled(Err e) {
    return e != Err::success ? e : fail(Err::other, "none: this is a test", "an error after the work");
}
"""


def taken(param):
    """Whether the call may end what the parameter stands for."""
    return param.direction == "inout" and (param.form == "handle" or param.kind.name == "KEYVAL")


def freeing_entries(spec):
    """Those of the tool interface have no error handler: their codes are given back as they are."""
    return [e for e in spec.entries if e.function.implemented and e.function.errors != "tool" and any(map(taken, e.params))]


def freeing_entry_file(spec):
    body = SPOILED
    for entry in freeing_entries(spec):
        text = call_body(entry, "spoiled({})")
        body += "\n" + wrap_call(f"int spoiled_{entry.name}", definition_arguments(entry, text), " {") + text + "}\n"
    head = cpp_head("Entry points of functions that free their handle, with an error after the work is done.")
    return head + FILE.format(near="", body=body)


class FreeingCall(Call):
    """A call with objects of the test, which are made anew for each."""

    def member(self, param):
        return param.kind.detail.lower() if param.form == "handle" else param.name

    def right(self, param):
        return f"&o->{self.member(param)}" if taken(param) else super().right(param)

    def right_handle(self, param):
        return "MPI_INT" if param.kind.detail == "Datatype" else super().right_handle(param)

    def lines(self):
        name = f"spoiled_{self.entry.name}"
        arguments = ", ".join(self.right(p) for p in self.entry.params)
        return (wrap_call(f"int {name}", self.entry.arguments, ";")
                + f"static int call_{self.entry.id}(struct Objects *o) {{ return {name}({arguments}); }}\n")

    def row(self):
        kinds = {self.member(p) for p in self.entry.params if taken(p)}
        return "".join(f'    {{"{self.entry.name}", kind_{kind}, call_{self.entry.id}}},\n' for kind in sorted(kinds))


def freeing_calls(spec):
    calls = [FreeingCall(spec, e) for e in freeing_entries(spec)]
    return cpp_head("Included by tests/abi/freeing.c.") + CALLS.format(
        calls="".join(c.lines() for c in calls), rows="".join(c.row() for c in calls))
