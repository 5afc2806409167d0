# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a copy of every entry point that may free its handle, with an injected error after the core call.
tests/abi/freeing.c creates the objects and checks the results in the caller and its error handler. The functions are found
by their parameters, so that a new one is tested automatically; a new kind of handle does not compile until the test can
create it."""

from .entries import call_body, definition_arguments, entry_file
from .text import cpp_head, wrap_call
from .invalid_args import Call

CALLS = """\
{calls}
static const struct Freeing freeing_functions[] = {{
{rows}}};
"""
SPOILED = """\
static Err spoiled(Err e) {
    return e != Err::success ? e : fail(Err::other, "none: this is a test", "an injected error");
}
"""


def taken(param):
    """True if the call may free the object of the parameter."""
    return param.direction == "inout" and (param.form == "handle" or param.kind.name == "KEYVAL")


def freeing_entries(spec):
    """Without functions of the tool interface, which have no error handler."""
    return [e for e in spec.entries if e.function.implemented and e.function.errors != "tool" and any(map(taken, e.params))]


def freeing_entry_file(spec):
    body, entries = SPOILED, freeing_entries(spec)
    for entry in entries:
        text = call_body(entry, "spoiled({})")
        body += "\n" + wrap_call(f"int spoiled_{entry.name}", definition_arguments(entry, text), " {") + text + "}\n"
    return entry_file("Entry points of functions that free their handle, with an injected error.", entries, body)


class FreeingCall(Call):
    """A call with objects of the test, which are created for each call."""

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
