# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a call of every function with buffers, for tests/gpu/calls.c, which runs each with buffers in host memory and in
device memory and compares the results. The kind of a call follows from its parameters, so that a new function is tested
automatically."""

from .device import buffers
from .invalid_args import Call, is_wide
from .text import cpp_head

FILE = """\
{calls}
static const struct DeviceCall device_calls[] = {{
{rows}}};
static const char *const functions_without_access[] = {{
{others}}};
"""


class DeviceCall(Call):
    """A call with the objects of the test."""

    @property
    def buffers(self):
        return buffers(self.entry)

    def has(self, detail, direction):
        return any(p.form == "handle" and p.kind.detail == detail and p.direction == direction and not p.is_array
                   for p in self.entry.params)

    def right_handle(self, param):
        detail = param.kind.detail.lower()
        if param.is_array:
            return f"o->{detail}s"
        if detail in ("info", "op"):
            return "MPI_INFO_NULL" if detail == "info" else "MPI_SUM"
        if detail == "comm" and self.entry.function.chapter.key == "topo":
            return "o->grid"
        return ("&" if param.direction != "in" else "") + f"o->{'made_' if detail == 'win' and param.direction == 'out' else ''}{detail}"

    def right_array(self, param):
        width = "wide" if is_wide(param, self.entry) else "narrow"
        if "NUM_ELEM" in param.kind.name:
            return f"o->{width}_counts"
        by_bytes = any(p.kind.detail == "Datatype" and p.is_array for p in self.entry.params)
        return f"o->{width}_{'byte_' if by_bytes else ''}displs"

    def right_count(self, param):
        if param.is_array:
            return self.right_array(param)
        if param.direction != "in":
            return "(void *)&o->position"
        name = param.kind.name
        if "NUM_ELEM" in name:
            return "o->count"
        if "DISPLACEMENT" in name:
            return "1" if name == "POLYRMA_DISPLACEMENT" else "0"
        return "o->offset" if name == "OFFSET" else "o->bytes"

    def right(self, param):
        if param.form == "buffer":
            return f"o->buffer[{self.buffers.index(param)}]" if param in self.buffers else "o->buffer[0]"
        if param.form == "handle":
            return self.right_handle(param)
        if param.form == "count":
            return self.right_count(param)
        if param.form == "rank":
            return "0" if "root" in param.marks else "o->source" if param.name == "source" else "o->peer"
        if param.form == "tag":
            return "7"
        if param.form == "status":
            return "MPI_STATUS_IGNORE"
        return {"PARTITION": "o->partitions", "STRING": '"external32"'}[param.kind.name]

    def kind(self):
        peers = [p for p in self.entry.params if p.form == "rank" and "peer" in p.marks]
        if any("host-only" in p.marks for p in self.buffers):
            return "refused"
        if self.entry.function.form:
            return "collective"
        if any(p.values.get("parts") == "partitions" for p in self.buffers):
            return "partitioned"
        for detail in ("Win", "File"):
            if self.has(detail, "in"):
                return detail.lower()
        if self.has("Message", "inout"):
            return "matched"
        return {(): "local", (False,): "send", (True,): "receive"}.get(tuple("wild" in p.marks for p in peers), "exchange")

    def flags(self):
        function = self.entry.function
        predefined = function.form and self.has("Op", "in") or all("NUM_ELEM" not in p.kind.name for p in self.entry.params)
        found = {"has_request": self.has("Request", "out"), "writes": any("const" not in p.marks for p in self.buffers),
                 "is_persistent": "persistent" in (function.form, function.trace) or self.kind() == "partitioned",
                 "predefined_only": predefined or self.kind() == "local" and self.has("Op", "in")}
        return " | ".join(name for name, is_set in found.items() if is_set) or "0"

    def end(self):
        """The function that ends a split collective, which has no count."""
        return self.spec.by_name.get(self.entry.function.name.replace("_begin", "_end")) if "_begin" in self.entry.name else None

    def lines(self):
        arguments = ", ".join(self.right(p) for p in self.entry.params)
        return f"static int call_{self.entry.id}(struct Objects *o) {{\n    return {self.entry.name}({arguments});\n}}\n"

    def row(self):
        end = f"call_{self.end().id}" if self.end() else "0"
        return f'    {{"{self.entry.name}", call_{self.entry.id}, {end}, kind_{self.kind()}, {len(self.buffers)}, {self.flags()}}},\n'


def device_calls(spec):
    calls = [DeviceCall(spec, e) for e in spec.entries if buffers(e)]
    ends = [DeviceCall(spec, e) for e in {c.end().id: c.end() for c in calls if c.end()}.values()]
    others = [e.name for e in spec.entries if not buffers(e) and any(p.form == "buffer" for p in e.params)]
    return cpp_head("Included by tests/gpu/calls.c.") + FILE.format(
        calls="".join(c.lines() for c in ends + calls), rows="".join(c.row() for c in calls),
        others="".join(f'    "{name}",\n' for name in others))
