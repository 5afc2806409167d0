# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C entry points: one file per chapter, each function as PMPI_x with a weak alias MPI_x."""

import re

from . import device, special
from .convert import Context, convert, converted_name
from .spec import SpecError
from .text import cpp_head, wrap_call

FILE = """\
{includes}
using namespace zipmpi;
using namespace zipmpi::abi;

extern "C" {{
{body}
}} // extern "C"
"""

# Checks on which later ones depend come first.
FIRST = {"Comm": 0, "Win": 0, "File": 0, "Session": 1}


# Headers of the ABI binding that only some functions need.
BINDING = {
    "abi/custom.hpp": lambda f: f.custom is not None,
    "abi/p2p_fast_path.hpp": lambda f: (f.fast_path or "").startswith("p2p_fast::"),
    "abi/rma_fast_path.hpp": lambda f: (f.fast_path or "").startswith("rma_fast::"),
    "abi/tool.hpp": lambda f: f.errors == "tool",
    "abi/unsupported.hpp": lambda f: not f.implemented,
}


def callee(function):
    return f"core::{function.target}" if function.target else f"custom::{function.custom}"


def value_body(entry):
    """A function that returns a value instead of an error code: arguments are passed unchecked and unchanged."""
    arguments = ", ".join(p.name for p in entry.params)
    return f"    return {callee(entry.function)}({arguments});\n"


def tool_body(entry):
    """A function of the tool interface: pointers of unneeded results may be null, so all arguments are passed unchanged.
    Without lock it also works while the interface is not initialized."""
    arguments = ", ".join(p.name for p in entry.params)
    call = f"{callee(entry.function)}({arguments})"
    if not entry.function.lock:
        return f"    return tool_code({entry.id}, {call});\n"
    return f"    return tool_call({entry.id}, [&] {{ return {call}; }});\n"


def missing_body(entry):
    """Uses no argument except the handle that determines the error handler."""
    if entry.function.errors == "tool":
        raise SpecError(f"{entry.name}: the tool interface is implemented as a whole")
    context = Context(entry)
    owner = context.first("handle", "Comm") or context.first("handle", "Session")
    arguments = [str(entry.id), "true" if entry.function.anytime else "false"] + ([owner.name] if owner else [])
    return f"    return unsupported({', '.join(arguments)});\n"


def guard_line(entry, context):
    function = entry.function
    if not function.record:
        if function.lock:
            raise SpecError(f"{entry.name}: record = false requires lock = false")
        return ""
    peer = next((p.name for p in entry.params if {"peer", "root"} & p.marks), None)
    tag = next((p.name for p in entry.params if p.form == "tag" and p.direction == "in"), None)
    comm = context.comm or (context.win if context.win and "optional" not in context.win.marks else None)
    arguments = [str(entry.id), f"peer_record({peer})" if peer else "recorder_none",
                 f"tag_record({tag})" if tag else "recorder_none",
                 f"core::context_of(*{converted_name(comm)})" if comm else "0"]
    lock = "Lock::yes" if function.lock else "Lock::no"
    return f"        const CallGuard<{lock}> guard({', '.join(arguments)});\n"


def check_rank(param):
    if "raises" in param.marks:
        return 0
    if param.form == "buffer":
        return 3
    return 2 if param.direction == "out" else FIRST.get(param.kind.detail, 2)


def check_lines(entry, context, codes):
    """Two groups of checks if some arguments are significant only at the root: the second depends on the root."""
    first = [] if entry.function.anytime else ["entry.running()"]
    order = sorted(codes, key=lambda pair: check_rank(pair[0]))
    early = [p for p in order if p[0] in (context.comm, context.root)]
    out = ""
    if any("root-only" in p.marks for p in entry.params):
        out += reject(first + [c for _, code in early for c in code.check])
        out += f"    const bool at_root = is_root(*{converted_name(context.comm)}, {context.root.name});\n"
        first, order = [], [p for p in order if p not in early]
    first += [c for _, code in order for c in code.check]
    operation, datatype = context.first("handle", "Op"), context.first("handle", "Datatype")
    if operation and datatype and not context.win:  # windows accept more operations; core checks them
        check = f"entry.reducible(*{converted_name(operation)}, *{converted_name(datatype)})"
        if context.root:
            check = f"(is_uninvolved(*{converted_name(context.comm)}, {context.root.name}) || {check})"
        first.append(check)
    return out + reject(first)


def reject(checks):
    if not checks:
        return ""
    condition = " &&\n          ".join(checks)
    return f"    if (!({condition})) [[unlikely]]\n        return entry.raise();\n"


def owner_line(context):
    """Errors of a request are raised on its communicator, which is determined before the request is freed."""
    if context.comm or context.session or context.win or not context.owned:
        return ""
    owned = context.owned[0]
    return f"    entry.on_comm_of({converted_name(owned)}{'.first()' if owned.is_array else ''});\n"


def entry_of(entry, context):
    """Declaration of the Entry, whose type determines the error handler."""
    if context.freed:
        number = f"{{{entry.id}}}" if context.freed is context.file else entry.id  # a file's entry has one more base
        return f"FreeingEntry<core::{context.freed.kind.detail}> entry{{{{{number}}}}}"
    if entry.function.errors == "file":
        return f"FileEntry entry{{{{{entry.id}}}}}"
    if context.made:
        return f"CreatingEntry<core::{context.made.kind.detail}> entry{{{{{entry.id}}}}}"
    return f"Entry entry{{{entry.id}}}"


def in_form(param):
    """The call form holds the request; core ignores the info object of a collective."""
    return param.form == "handle" and (param.kind.detail, param.direction) in (("Request", "out"), ("Info", "in"))


def passed_arguments(entry, codes):
    """Arguments of the target: the call form, if it takes one, and the converted parameters."""
    function = entry.function
    passed = [a for p, code in codes if not (function.form and in_form(p)) for a in code.pass_on]
    if function.form:
        request = next((converted_name(p) for p in entry.params if p.kind.detail == "Request"), "")
        passed.insert(0, f"core::CallForm::{function.form}({request})")
    if function.pass_large:
        passed.append("true" if entry.wide else "false")
    return ", ".join(passed)


def call_body(entry, wrapped="{}", spec=None):
    """wrapped: format around the call of the target. spec: of the ABI; None: the standard one."""
    context = Context(entry, spec)
    codes = [(p, convert(p, context)) for p in entry.params]
    arguments = passed_arguments(entry, codes)
    out = "".join(f"    {line}\n" for line in special.load_lines(entry, spec))
    out += f"    {entry_of(entry, context)};\n"
    out += "".join(f"    {line}\n" for _, code in codes for line in code.declare)
    out += check_lines(entry, context, codes)
    out += owner_line(context)
    call = guard_line(entry, context)
    if context.freed:
        call += f"        entry.save_handler_of(*{converted_name(context.freed)});\n"
    call += f"        entry.err = {wrapped.format(f'{callee(entry.function)}({arguments})')};\n"
    out += device.block(entry, context, codes, call)
    out += "".join(f"    {line}\n" for _, code in codes for line in code.store)
    return out + f"    return entry.done({converted_name(context.freed) if context.freed else ''});\n"


def body(entry, spec=None):
    if entry.function.returns:
        if not entry.function.implemented:
            raise SpecError(f"{entry.name} returns a value, so it must be implemented")
        return value_body(entry)
    if not entry.function.implemented:
        return missing_body(entry)
    return tool_body(entry) if entry.function.errors == "tool" else call_body(entry, spec=spec)


def unused_names(entry, text):
    """Parameters that the body does not use, which must be unnamed in the definition."""
    return {p.name for p in entry.params if not re.search(rf"\b{p.name}\b", text)}


def definition_arguments(entry, text):
    unused = unused_names(entry, text)
    words = []
    for p in entry.params:
        declaration = p.declaration(entry.wide)
        words.append("[[maybe_unused]] " + declaration if p.name in unused and declaration != "..." else declaration)
    return ", ".join(words) or "void"


def fast_path_entry(entry, text):
    """The general body becomes a separate function with equal arguments: the fast path needs only a jump and saves no
    registers."""
    rest = f"checked_{entry.name.removeprefix('MPI_')}"
    names = ", ".join(p.name for p in entry.params)
    recorded = f"{entry.id}, " if entry.function.fast_path.startswith("p2p_fast::") else ""
    out = "\n" + wrap_call(f"[[gnu::noinline]] static int {rest}", entry.arguments, " {") + text + "}\n"
    out += wrap_call(f"int P{entry.name}", entry.arguments, " {")
    out += f"    if ({entry.function.fast_path}({recorded}{names})) [[likely]]\n        return MPI_SUCCESS;\n"
    return out + f"    return {rest}({names});\n}}\n"


def alias_names(entry, spec):
    """Names that only some ABIs have."""
    others = spec.aliases_of(entry) if spec is not None else []
    return [prefix + other for other in others for prefix in ("", "P")]


def alias(entry, name, target):
    return wrap_call(f"{entry.returns} {name}", entry.arguments, f' __attribute__((weak, alias("{target}")));')


def entry_point(entry, spec=None):
    text = body(entry, spec)
    if entry.function.fast_path:
        out = fast_path_entry(entry, text)
    else:
        out = "\n" + wrap_call(f"{entry.returns} P{entry.name}", definition_arguments(entry, text), " {")
        out += text + "}\n"
    return out + "".join(alias(entry, name, f"P{entry.name}") for name in [entry.name, *alias_names(entry, spec)])


def includes(entries, spec=None):
    """The headers of the chapters whose targets are called, and those of the binding that are needed."""
    functions = [e.function for e in entries]
    names = {"abi/arrays.hpp", "abi/entry.hpp"} | {name for name, needed in BINDING.items() if any(map(needed, functions))}
    names |= {"abi/special_values.hpp"} if spec is not None and not spec.is_standard else set()
    names |= {device.HEADER} if any(map(device.buffers, entries)) else set()
    names |= {f"core/api/{f.chapter.api}.hpp" for f in functions if f.target}
    return "".join(f'#include "{name}"\n' for name in sorted(names))


def entry_file(title, entries, body, spec=None):
    return cpp_head(title) + FILE.format(includes=includes(entries, spec), body=body)


def chapter_file(spec, chapter):
    entries = list(spec.entries_of(chapter))
    body_text = "".join(entry_point(e, spec) for e in entries)
    return entry_file(f"Entry points of chapter {chapter.number}.", entries, body_text, spec)
