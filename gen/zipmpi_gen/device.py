# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Code of an entry point for buffers in device memory: each is replaced by a host copy of its parts during the call
(src/core/device/call_buffers.hpp). The parts follow from the counts and datatypes after the buffer, and from its marks."""

from .convert import REACHED, converted_name

HEADER = "core/device/call_buffers.hpp"
# Numbers of parts that are not parameters.
PEERS = REACHED | {"local": "local_size_of"}


def buffers(entry):
    """The parameters that the call reads or writes, or that must be in host memory."""
    if not entry.function.implemented or entry.function.errors == "tool":
        return []
    return [p for p in entry.params if p.form == "buffer" and "address-only" not in p.marks]


class Parts:
    """The C++ expression for the parts of one buffer."""

    def __init__(self, param, context, passed):
        """passed: {name: argument of the target}"""
        self.param, self.context, self.passed = param, context, passed
        self.count = context.after(param, lambda p: "NUM_ELEM" in p.kind.name)
        self.datatype = context.after(param, lambda p: p.kind.detail == "Datatype")

    def number(self):
        where = self.param.values.get("parts") or self.count.length
        return f"core::{PEERS[where]}(*{converted_name(self.context.comm)})" if where in PEERS else where

    def of_arrays(self):
        """One block for each peer, at displacements of its own."""
        counts, displs = self.passed[self.count.name], self.context.after(self.count, lambda p: p.is_array)
        types = self.passed[self.datatype.name] if self.datatype.is_array else f"*{converted_name(self.datatype)}"
        return f"blocks({counts}, {self.passed[displs.name]}, {types}, {self.number()})"

    def own(self):
        """The part that belongs to this process."""
        type_, comm = f"*{converted_name(self.datatype)}", converted_name(self.context.comm)
        count = f"{self.passed[self.count.name]}[core::rank_of(*{comm})]" if self.count.is_array else self.count.name
        return f"core::device::elements({count}, {type_})"

    def all(self):
        if "bytes" in self.param.values:
            return f"bytes({self.param.values['bytes']})"
        type_ = f"*{converted_name(self.datatype)}"
        if self.count is None:
            return f"elements(1, {type_})"
        if self.count.is_array:
            if self.param.values.get("parts") == "local":
                return f"consecutive({self.passed[self.count.name]}, {type_}, {self.number()})"
            return self.of_arrays()
        parts = self.param.values.get("parts")
        if parts is None:
            return f"elements({self.count.name}, {type_})"
        if parts not in PEERS:
            return f"partitions({parts}, {self.count.name}, {type_})"
        return f"elements(int64_t{{{self.count.name}}} * {self.number()}, {type_})"

    def text(self):
        text = f"core::device::{self.all()}"
        if "own-part" not in self.param.marks:
            return text
        other = next(p for p in self.context.params if "in-place" in p.marks)
        return f"is_in_place({other.name}) ? {text} : {self.own()}"


def ignored(param, context):
    """C++ expression that is true if the call does not use the buffer; empty: never. In a collective with a root on an
    intercommunicator, a buffer for both directions is used by the root, too."""
    if param.direction == "inout" and context.root and context.comm:
        return f"is_uninvolved(*{converted_name(context.comm)}, {context.root.name})"
    return context.ignored(param)


def buffer_line(param, context, passed):
    if "host-only" in param.marks:
        return f'buffers.require_host({param.name}, "{param.name}");'
    use = "read" if "const" in param.marks else "write"
    line = f"{param.name} = buffers.{use}({param.name}, {Parts(param, context, passed).text()});"
    conditions = [f"!is_in_place({param.name})"] if "in-place" in param.marks else []
    if skipped := ignored(param, context):
        conditions.insert(0, skipped[1:] if skipped.startswith("!") else f"!({skipped})")
    return f"if ({' && '.join(conditions)}) {line}" if conditions else line


def finish(entry, context):
    """Arguments of CallBuffers::finish() after the result: what completes the call, if it returns before."""
    request = next((p for p in entry.params if p.kind.detail == "Request" and p.direction == "out"), None)
    target = next((p for p in entry.params if p.form == "rank" and "peer" in p.marks), None)
    if request:
        return f", {converted_name(request)}"
    return f", *{converted_name(context.win)}, {target.name}" if context.win and target else ""


def block(entry, context, codes, call):
    """The statements of the call: `call` alone, or between the steps of the buffers. call: lines with a guard and a call of
    the target, indented by eight columns."""
    used = buffers(entry)
    if not used:
        return "    {\n" + call + "    }\n"
    passed = {p.name: code.pass_on[0] for p, code in codes if code.pass_on}
    out = "    if (core::may_have_device_buffers()) [[unlikely]] {\n        core::device::CallBuffers buffers;\n"
    out += "".join(f"        {buffer_line(p, context, passed)}\n" for p in used)
    out += "        entry.err = buffers.load();\n        if (entry.err == Err::success) {\n"
    out += "".join(f"    {line}\n" for line in call.splitlines())
    out += f"            entry.err = buffers.finish(entry.err{finish(entry, context)});\n        }}\n    }} else {{\n"
    return out + call + "    }\n"
