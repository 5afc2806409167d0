# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the interposition library of --profile and --trace: each MPI_x calls PMPI_x and describes the call to
trace::Call (src/trace/call.hpp). Messages, requests and communicators are recognized by the parameters."""

from .text import cpp_head, wrap_call

FILE = """\
#include "trace/call.hpp"

using namespace zipmpi::trace;
using zipmpi::wire::TraceKind;

extern "C" {{
{body}
}} // extern "C"
"""


def is_wrapped(entry):
    """Functions with an error code that the flight recorder has, too; variable arguments cannot be passed on."""
    function = entry.function
    return (function.implemented and function.returns is None and function.errors != "tool" and function.record
            and all(p.declaration(entry.wide) != "..." for p in entry.params))


class Shape:
    """The parameters of a call by their roles."""

    def __init__(self, entry):
        self.entry, self.params = entry, entry.params
        self.comm = self.first("Comm", "in")
        self.made = self.first("Comm", "out")
        self.freed = self.first("Comm", "inout")
        self.request = self.first("Request", "out")
        self.requests = self.first("Request", "inout")
        self.message = self.first("Message", "inout")
        self.probed = self.first("Message", "out")
        self.status = next((p for p in self.params if p.form == "status" and p.direction == "out" and "raw" not in p.marks), None)
        self.flag = self.kind("LOGICAL")
        self.index = next((p for p in self.params if p.kind.name == "INDEX" and p.direction == "out"), None)
        self.root = next((p for p in self.params if "root" in p.marks), None)

    def first(self, detail, direction):
        return next((p for p in self.params if p.form == "handle" and p.kind.detail == detail and p.direction == direction
                     and (detail == "Request" or not p.is_array)), None)

    def kind(self, name):
        return next((p for p in self.params if p.kind.name == name and p.direction == "out" and not p.is_array), None)

    def pieces(self):
        """(buffer, count, datatype) of buffers with one count and one datatype."""
        found = []
        for i, buffer in enumerate(self.params):
            if buffer.form != "buffer":
                continue
            rest = self.params[i + 1:]
            end = next((n for n, p in enumerate(rest) if p.form == "buffer"), len(rest))
            count = next((p for p in rest[:end] if p.kind.name.startswith("POLYXFER_NUM_ELEM")), None)
            datatype = next((p for p in rest[:end] if p.kind.detail == "Datatype"), None)
            if not (count and datatype) and i + 1 < len(self.params) and rest and rest[0].form == "buffer":
                count = next((p for p in rest if p.kind.name.startswith("POLYXFER_NUM_ELEM")), None)  # reductions
                datatype = next((p for p in rest if p.kind.detail == "Datatype"), None)
            if count and datatype and not count.is_array and not datatype.is_array:
                found.append((buffer, count, datatype))
        return found

    def bytes(self):
        """Expression for the bytes that this rank contributes, from arguments that are significant in all ranks."""
        pieces = [p for p in self.pieces() if not any("root-only" in one.marks for one in p)]
        if not pieces:
            return "0"
        buffer, count, datatype = pieces[0]
        text = f"bytes_of({count.name}, {datatype.name})"
        if "in-place" not in buffer.marks:
            return text
        others = [p for p in self.pieces() if p[0] is not buffer and p[1] is not count]
        other = f"bytes_of({others[0][1].name}, {others[0][2].name})" if others else text if len(self.pieces()) > 1 else "0"
        return f"{buffer.name} == MPI_IN_PLACE ? {other} : {text}" if other != text else text

    def messages(self):
        """(rank, tag) of the peers of point-to-point messages."""
        if self.entry.function.trace == "no message" or not self.comm or not self.pieces():
            return []
        ranks = [p for p in self.params if p.kind.name == "RANK" and "peer" in p.marks]
        tags = [p for p in self.params if p.form == "tag" and p.direction == "in"]
        return list(zip(ranks, tags)) if len(ranks) == len(tags) else []


def request_lines(shape):
    """Requests that the call completes, frees or starts."""
    role = shape.entry.function.trace
    if role == "start":
        return ["call.start(saved);"]
    if not shape.status:
        return ["call.release(saved);"]
    if shape.index and shape.index.is_array:
        return [f"call.complete_some(saved, *{shape.index.values['used']}, {shape.index.name}, statuses);"]
    line = f"call.complete(saved, *{shape.index.name}, statuses.known());" if shape.index else "call.complete_all(saved, statuses);"
    return [f"if (*{shape.flag.name} != 0) {line}" if shape.flag else line]


def message_lines(shape):
    lines, persistent = [], shape.entry.function.trace == "persistent"
    comm = shape.comm.name if shape.comm else ""
    for rank, tag in shape.messages():
        request = f"*{shape.request.name}" if shape.request else None
        if "wild" not in rank.marks:
            arguments = f"{comm}, {rank.name}, {tag.name}, {shape.bytes()}"
            lines.append(f"call.prepare_send({request}, {arguments});" if persistent else f"call.send({arguments});")
        elif request:
            lines.append(f"call.{'prepare_receive' if persistent else 'post'}({request}, {comm});")
        elif shape.status:
            lines.append(f"call.{'also_receive' if lines else 'receive'}({comm}, statuses);")
    return lines


def effect_lines(shape):
    function = shape.entry.function
    lines = message_lines(shape)
    if shape.requests:
        lines += request_lines(shape)
    if shape.message:
        target = f"*{shape.request.name}" if shape.request else "statuses"
        lines.append(f"call.{'post' if shape.request else 'receive'}_matched(saved_message, {target});")
    elif shape.probed and shape.comm:
        line = f"call.match(*{shape.probed.name}, {shape.comm.name});"
        lines.append(f"if (*{shape.flag.name} != 0) {line}" if shape.flag else line)
    if function.form in ("blocking", "nonblocking") and shape.comm:
        kind = "collective" if function.form == "blocking" else "collective_start"
        root = shape.root.name if shape.root else "-1"
        lines.append(f"call.collective(TraceKind::{kind}, {shape.comm.name}, {root}, {shape.bytes()});")
    elif not lines and shape.bytes() != "0" and function.trace is None and not function.form:
        lines.append(f"call.transfer({shape.bytes()});")
    if shape.made:
        of = f", {shape.comm.name}" if shape.request and shape.comm else ""
        lines.append(f"remember(*{shape.made.name}{of});")
    return lines


def saved_lines(shape):
    """What must be read before the call."""
    lines = []
    if shape.requests:
        count = shape.requests.length if shape.requests.is_array else "1"
        lines.append(f"const SavedRequests saved({count}, {shape.requests.name});")
    if shape.message:
        lines.append(f"const MPI_Message saved_message = *{shape.message.name};")
    if shape.freed:
        lines.append(f"forget(*{shape.freed.name});")
    return lines


def needs_statuses(lines):
    return any("statuses" in line for line in lines)


def statuses_line(shape):
    count = shape.status.length if shape.status.is_array else "1"
    ignored = "MPI_STATUSES_IGNORE" if shape.status.is_array else "MPI_STATUS_IGNORE"
    return f"Statuses statuses({count}, {shape.status.name}, {ignored});"


def wrapper(entry):
    shape, role = Shape(entry), entry.function.trace
    effects = effect_lines(shape)
    statuses = needs_statuses(effects)
    names = ["statuses.get()" if statuses and p is shape.status else p.name for p in entry.params]
    out = "\n" + wrap_call(f"int {entry.name}", entry.arguments, " {")
    out += f'    static const auto real = find<decltype(&P{entry.name})>("P{entry.name}");\n'
    out += {"end": "    end_recording();\n", "abort": "    abandon_recording();\n"}.get(role, "")
    if role == "begin":
        out += f"    const int code = real({', '.join(names)});\n"
        return out + "    if (code == MPI_SUCCESS) begin_recording();\n    return code;\n}\n"
    out += "".join(f"    {line}\n" for line in saved_lines(shape))
    out += f"    {statuses_line(shape)}\n" if statuses else ""
    out += f"    Call call({entry.id});\n    const int code = real({', '.join(names)});\n"
    if effects:
        out += "    if (call.finish(code)) {\n" + "".join(f"        {line}\n" for line in effects) + "    }\n"
    else:
        out += "    (void)call.finish(code);\n"
    return out + "    return code;\n}\n"


def wrapper_file(spec):
    body = "".join(wrapper(e) for e in spec.entries if is_wrapped(e))
    return cpp_head("Functions of the interposition library.") + FILE.format(body=body)
