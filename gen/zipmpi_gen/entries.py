# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C entry points: one file per chapter, each function as PMPI_x with a weak MPI_x beside it."""

import re

from .convert import Context, convert, own_name
from .spec import SpecError
from .text import cpp_head, wrap_call

FILE = """\
#include "abi/arrays.hpp"
#include "abi/custom.hpp"
#include "abi/entry.hpp"
{near}#include "abi/tool.hpp"
#include "abi/unsupported.hpp"

using namespace zipmpi;
using namespace zipmpi::abi;

extern "C" {{
{body}
}} // extern "C"
"""

# Checks that later ones rest on come first.
FIRST = {"Comm": 0, "Win": 0, "File": 0, "Session": 1}


def callee(function):
    return f"core::{function.target}" if function.target else f"custom::{function.custom}"


def value_body(entry):
    """A function that returns a value, not an error code: nothing is checked, arguments go through as they are."""
    arguments = ", ".join(p.name for p in entry.params)
    return f"    return {callee(entry.function)}({arguments});\n"


def tool_body(entry):
    """A function of the tool interface: pointers may be null where results are not wanted, so the callee gets all
    arguments as they are. Without lock it also works while the interface is not initialised."""
    arguments = ", ".join(p.name for p in entry.params)
    call = f"{callee(entry.function)}({arguments})"
    if not entry.function.lock:
        return f"    return tool_code({entry.id}, {call});\n"
    return f"    return tool_call({entry.id}, [&] {{ return {call}; }});\n"


def missing_body(entry):
    """Touches no argument but the handle whose error handler is to be called."""
    if entry.function.errors == "tool":
        raise SpecError(f"{entry.name}: the tool interface is implemented as a whole")
    around = Context(entry)
    owner = around.first("handle", "Comm") or around.first("handle", "Session")
    arguments = [str(entry.id), "true" if entry.function.anytime else "false"] + ([owner.name] if owner else [])
    return f"    return unsupported({', '.join(arguments)});\n"


def guard_line(entry, around):
    function = entry.function
    if not function.record:
        if function.lock:
            raise SpecError(f"{entry.name}: a call that is locked is also recorded")
        return ""
    peer = next((p.name for p in entry.params if {"peer", "root"} & p.marks), None)
    tag = next((p.name for p in entry.params if p.form == "tag" and p.direction == "in"), None)
    comm = around.comm or (around.win if around.win and "optional" not in around.win.marks else None)
    arguments = [str(entry.id), f"peer_record({peer})" if peer else "recorder_none",
                 f"tag_record({tag})" if tag else "recorder_none",
                 f"core::context_of(*{own_name(comm)})" if comm else "0"]
    lock = "Lock::yes" if function.lock else "Lock::no"
    return f"        const Guard<{lock}> guard({', '.join(arguments)});\n"


def check_rank(param):
    if "raises" in param.marks:
        return 0
    if param.form == "buffer":
        return 3
    return 2 if param.direction == "out" else FIRST.get(param.kind.detail, 2)


def check_lines(entry, around, pieces):
    """Two groups of checks if some arguments count at the root only: the second needs to know who is root."""
    first = [] if entry.function.anytime else ["entry.running()"]
    order = sorted(pieces, key=lambda pair: check_rank(pair[0]))
    early = [p for p in order if p[0] in (around.comm, around.root)]
    out = ""
    if any("root-only" in p.marks for p in entry.params):
        out += reject(first + [c for _, piece in early for c in piece.check])
        out += f"    const bool at_root = is_root(*{own_name(around.comm)}, {around.root.name});\n"
        first, order = [], [p for p in order if p not in early]
    first += [c for _, piece in order for c in piece.check]
    operation, datatype = around.first("handle", "Op"), around.first("handle", "Datatype")
    if operation and datatype and not around.win:  # what a window takes is more, and checked by the engine
        first.append(f"entry.reducible(*{own_name(operation)}, *{own_name(datatype)})")
    return out + reject(first)


def reject(checks):
    if not checks:
        return ""
    condition = " &&\n          ".join(checks)
    return f"    if (!({condition})) [[unlikely]]\n        return entry.raise();\n"


def owner_line(around):
    """Errors of a request are raised on its communicator, which must be known before the request is gone."""
    if around.comm or around.session or around.win or not around.owned:
        return ""
    owned = around.owned[0]
    return f"    entry.on_owner_of({own_name(owned)}{'.first()' if owned.is_array else ''});\n"


def entry_of(entry, around):
    """The variable that knows whose error handler gets the errors of the call."""
    if around.freed:
        number = f"{{{entry.id}}}" if around.freed is around.file else entry.id  # a file's entry has one base more
        return f"FreeingEntry<core::{around.freed.kind.detail}> entry{{{{{number}}}}}"
    if entry.function.errors == "file":
        return f"FileEntry entry{{{{{entry.id}}}}}"
    if around.made:
        return f"MakingEntry<core::{around.made.kind.detail}> entry{{{{{entry.id}}}}}"
    return f"Entry entry{{{entry.id}}}"


def call_body(entry, wrapped="{}"):
    """wrapped: what is made of the engine's answer."""
    around = Context(entry)
    pieces = [(p, convert(p, around)) for p in entry.params]
    passed = [a for _, piece in pieces for a in piece.pass_on]
    if entry.function.pass_large:
        passed.append("true" if entry.wide else "false")
    arguments = ", ".join(passed)
    out = f"    {entry_of(entry, around)};\n"
    out += "".join(f"    {line}\n" for _, piece in pieces for line in piece.declare)
    out += check_lines(entry, around, pieces)
    out += owner_line(around)
    out += "    {\n" + guard_line(entry, around)
    if around.freed:
        out += f"        entry.keep_handler_of(*{own_name(around.freed)});\n"
    out += f"        entry.err = {wrapped.format(f'{callee(entry.function)}({arguments})')};\n" + "    }\n"
    out += "".join(f"    {line}\n" for _, piece in pieces for line in piece.store)
    return out + f"    return entry.done({own_name(around.freed) if around.freed else ''});\n"


def body(entry):
    if entry.function.returns:
        if not entry.function.implemented:
            raise SpecError(f"{entry.name} returns a value and cannot say that it is not implemented")
        return value_body(entry)
    if not entry.function.implemented:
        return missing_body(entry)
    return tool_body(entry) if entry.function.errors == "tool" else call_body(entry)


def unused_names(entry, text):
    """Parameters that the body does not mention, which must not be named in a definition."""
    return {p.name for p in entry.params if not re.search(rf"\b{p.name}\b", text)}


def definition_arguments(entry, text):
    unused = unused_names(entry, text)
    words = []
    for p in entry.params:
        declaration = p.declaration(entry.wide)
        words.append("[[maybe_unused]] " + declaration if p.name in unused and declaration != "..." else declaration)
    return ", ".join(words) or "void"


def near_entry_point(entry, text):
    """The usual body becomes a function of its own with the same arguments: a jump, and no registers to save for the
    calls that do not need it."""
    rest = f"checked_{entry.name.removeprefix('MPI_')}"
    names = ", ".join(p.name for p in entry.params)
    out = "\n" + wrap_call(f"[[gnu::noinline]] static int {rest}", entry.arguments, " {") + text + "}\n"
    out += wrap_call(f"int P{entry.name}", entry.arguments, " {")
    out += f"    if (near::{entry.function.near}({names})) [[likely]]\n        return MPI_SUCCESS;\n"
    return out + f"    return {rest}({names});\n}}\n"


def entry_point(entry):
    text = body(entry)
    if entry.function.near:
        out = near_entry_point(entry, text)
    else:
        out = "\n" + wrap_call(f"{entry.returns} P{entry.name}", definition_arguments(entry, text), " {")
        out += text + "}\n"
    return out + wrap_call(f"{entry.returns} {entry.name}", entry.arguments,
                           f' __attribute__((weak, alias("P{entry.name}")));')


def chapter_file(spec, chapter):
    entries = list(spec.entries_of(chapter))
    near = '#include "abi/near.hpp"\n' if any(e.function.near for e in entries) else ""
    text = "".join(entry_point(e) for e in entries)
    return cpp_head(f"Entry points of chapter {chapter.number}.") + FILE.format(near=near, body=text)
