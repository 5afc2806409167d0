# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""How one parameter goes through an entry point: what is declared for it, checked, passed on and written back.

There is one function per form (the fourth column of spec/abi/kinds.tsv). Which parameter belongs to which (a
buffer to its count, a datatype to its buffer, a rank to its communicator) is found by their order and marks.
"""

from dataclasses import dataclass, field

from .spec import SpecError


@dataclass
class Piece:
    """The code of one parameter. own: the name of its converted form."""
    own: str
    declare: list = field(default_factory=list)
    check: list = field(default_factory=list)  # boolean expressions
    setup: list = field(default_factory=list)  # statements after the checks
    pass_on: list = field(default_factory=list)
    store: list = field(default_factory=list)  # statements after the call


class Context:
    """The neighbours of a parameter."""

    def __init__(self, entry):
        self.entry = entry
        self.params = entry.params

    def first(self, form, detail="", direction="in"):
        for p in self.params:
            if (p.form, p.kind.detail) == (form, detail) and p.direction == direction and not p.is_array:
                return p
        return None

    @property
    def comm(self):
        """The communicator that the call is on. One that may be null is an argument like others."""
        comm = self.first("handle", "Comm") or self.first("handle", "Comm", "inout")
        return comm if comm is not None and "optional" not in comm.marks else None

    @property
    def session(self):
        return self.first("handle", "Session") or self.first("handle", "Session", "inout")

    @property
    def win(self):
        """The window that the call is on."""
        return self.first("handle", "Win") or self.first("handle", "Win", "inout")

    @property
    def file(self):
        """The file that the call is on."""
        return self.first("handle", "File") or self.first("handle", "File", "inout")

    @property
    def freed(self):
        """What the call is on and may free."""
        on = (self.comm, self.session, self.win, self.file)
        return next((p for p in on if p is not None and p.direction == "inout"), None)

    @property
    def made(self):
        """What the call makes, if it is given the error handler of that."""
        raises = any("raises" in p.marks for p in self.params)
        return next((p for p in self.params if p.form == "handle" and p.direction == "out"), None) if raises else None

    @property
    def owned(self):
        """What belongs to a communicator without naming it: requests and messages that come in."""
        return [p for p in self.params if p.kind.detail in ("Request", "Message") and p.direction != "out"]

    @property
    def root(self):
        return next((p for p in self.params if "root" in p.marks), None)

    def after(self, param, test):
        rest = self.params[self.params.index(param) + 1:]
        return next((p for p in rest if test(p)), None)

    def buffer_before(self, param):
        before = [p for p in self.params[:self.params.index(param)] if p.form == "buffer"]
        return before[-1] if before else None

    def ignored(self, param):
        """When the parameter means nothing, as a C++ expression; empty: never."""
        if "root-only" in param.marks:
            return "!at_root"
        if "unless-no-op" in param.marks:
            return f"{self.first('handle', 'Op').name} == MPI_NO_OP"
        stands_by = f"stands_by(*{own_name(self.comm)}, {self.root.name})" if self.root and self.comm else ""
        if param.form == "buffer":
            return stands_by
        buffer = self.buffer_before(param)
        describes_buffer = param.form == "count" or param.kind.detail == "Datatype"
        if buffer is not None and "in-place" in buffer.marks and describes_buffer:
            # of a reduction, what describes the buffer counts at the root as well
            both = stands_by and not self.first("handle", "Op")
            return f"is_in_place({buffer.name}) || {stands_by}" if both else f"is_in_place({buffer.name})"
        return ""


def own_name(param):
    return param.name + "_"


def quoted(param):
    return f'"{param.name}"'


def not_null(param):
    return f"entry.out({param.name}, {quoted(param)})"


def unless(ignored, check):
    return f"({ignored} || {check})" if ignored else check


def handle(param, around):
    own = own_name(param)
    cls = param.kind.detail
    if param.is_array:
        return handle_array(param, own, around)
    piece = Piece(own, declare=[f"core::{cls}* {own} = nullptr;"])
    value = param.name
    if param.direction != "in":
        piece.check.append(not_null(param))
        value = "*" + param.name
        piece.store.append(f"*{param.name} = handle_of({own});")
    elif "by-address" in param.marks:
        piece.check.append(not_null(param))
        value = "*" + param.name
    if param.direction == "out":
        piece.pass_on.append(own)
        return piece
    ignored = around.ignored(param)
    optional = "optional" in param.marks or (cls == "Info" and "required" not in param.marks)
    on_it = param in (around.win, around.file) and "optional" not in param.marks
    if param in (around.comm, around.session) or on_it:
        find = "on"
    elif "raises" in param.marks:
        find = "raises_with"
        if optional:
            ignored = f"{value} == MPI_{param.kind.name}_NULL"
    else:
        find = "optional_handle" if optional else "handle"
    piece.check.append(unless(ignored, f"entry.{find}({value}, {own}, {quoted(param)})"))
    if cls == "Datatype" and around.buffer_before(param) is not None:
        piece.check.append(unless(ignored, f"entry.committed({value}, *{own}, {quoted(param)})"))
    by_pointer = optional or ignored or param.direction == "inout"
    piece.pass_on.append(own if by_pointer else "*" + own)
    return piece


def handle_array(param, own, around):
    if "raw" in param.marks:
        return Piece(param.name, pass_on=[param.name])
    if param.kind.detail == "Datatype" and param.direction != "inout":
        return datatype_array(param, own, around)
    if param.kind.detail != "Request" or param.direction == "out":
        raise SpecError(f"array of {param.kind.name} has no conversion yet")
    return Piece(own, declare=[f"RequestArray {own};"],
                 check=[f"{own}.load(entry, {param.length}, {param.name}, {quoted(param)})"],
                 pass_on=[f"{own}.data()"],
                 store=[f"{own}.store({param.name});"] if param.direction == "inout" else [])


# Lengths that are known from the communicator.
REACHED = {"*": "size_of", "sources": "sources_of", "destinations": "destinations_of"}


def datatype_array(param, own, around):
    """Of a collective: one for each rank that it reaches, and they must be committed."""
    piece = Piece(own, declare=[f"DatatypeArray {own};"], pass_on=[f"{own}.data()"])
    if param.length in REACHED:
        reached = f"core::{REACHED[param.length]}(*{own_name(around.comm)})"
        load = f"{own}.load_committed(entry, {reached}, {param.name}, {quoted(param)})"
        piece.check.append(unless(around.ignored(param), load))
    elif param.direction == "in":
        piece.check.append(f"{own}.load(entry, {param.length}, {param.name}, {quoted(param)})")
    else:
        piece.check.append(f"{own}.prepare(entry, {param.length}, {param.name}, {quoted(param)})")
        piece.store.append(f"{own}.store({param.name});")
    return piece


def array_there(param, around):
    """An array of known length may be a null pointer if it has no elements."""
    if any(p.name == param.length for p in around.params):
        return f"entry.out_array({param.name}, {param.length}, {quoted(param)})"
    return not_null(param)


def count_array(param, around):
    check = unless(around.ignored(param), array_there(param, around))
    if param.direction != "in":
        if param.kind.narrow == "int":
            raise SpecError(f"{around.entry.name}: array of {param.kind.name} to be written has no conversion yet")
        return Piece(own_name(param), check=[check], pass_on=[param.name])
    width = "wide" if param.c_type(around.entry.wide)[0].split()[-1] != "int" else "narrow"
    return Piece(own_name(param), check=[check], pass_on=[f"{width}_array({param.name})"])


def count(param, around):
    own = own_name(param)
    if param.is_array:
        return count_array(param, around)
    if param.direction == "in":
        check = {"nonnegative": [f"entry.count({param.name}, {quoted(param)})"],
                 "positive": [f"entry.positive({param.name}, {quoted(param)})"], "-": []}[param.kind.check]
        return Piece(own, check=[unless(around.ignored(param), c) for c in check], pass_on=[param.name])
    start = "0" if param.direction == "out" else f"{param.name} != nullptr ? *{param.name} : 0"
    return Piece(own, declare=[f"int64_t {own} = {start};"], check=[not_null(param)], pass_on=[own],
                 store=[f"put_count({param.name}, {own});"])


def integer(param, around):
    if "raw" in param.marks:
        return Piece(param.name, pass_on=[param.name])
    if param.is_array and (param.direction != "in" or any(p.name == param.length for p in around.params)):
        return Piece(param.name, check=[f"entry.out_array({param.name}, {param.length}, {quoted(param)})"],
                     pass_on=[param.name])
    if param.direction == "in":
        return Piece(param.name, pass_on=[param.name])
    return Piece(param.name, check=[not_null(param)], pass_on=["*" + param.name])


def length(param, around):
    """The length of an array: checked like a count on the way in, an int like in C on the way out."""
    return count(param, around) if param.direction == "in" else integer(param, around)


def rank(param, around):
    piece = integer(param, around)
    if param.direction != "in" or param.is_array or "unchecked" in param.marks:
        return piece
    group = around.comm or around.win
    if group is None:
        raise SpecError(f"{around.entry.name}: rank {param.name} has no communicator or window to be checked with")
    if "root" in param.marks:
        check = "root"
    elif "wild" in param.marks:
        check = "source"
    else:
        check = "peer" if "peer" in param.marks else "member"
    piece.check.append(f"entry.{check}({param.name}, {own_name(group)}, {quoted(param)})")
    return piece


def tag(param, around):
    piece = integer(param, around)
    if param.direction == "in" and "unchecked" not in param.marks:
        check = "tag_or_any" if "wild" in param.marks else "tag"
        piece.check.append(f"entry.{check}({param.name}, {quoted(param)})")
    return piece


def logical(param, around):
    own = own_name(param)
    if param.is_array:
        return integer(param, around)
    if param.direction == "in":
        return Piece(own, pass_on=[f"{param.name} != 0"])
    return Piece(own, declare=[f"bool {own} = false;"], check=[not_null(param)], pass_on=[own],
                 store=[f"*{param.name} = {own} ? 1 : 0;"])


def enum(param, around):
    own = own_name(param)
    piece = Piece(own, declare=[f"core::{param.kind.detail} {own}{{}};"], pass_on=[own])
    if param.direction == "in":
        piece.check.append(f"entry.listed({param.name}, {own}, {quoted(param)})")
    else:
        piece.check.append(not_null(param))
        piece.store.append(f"*{param.name} = code_of({own});")
    return piece


def status(param, around):
    own = own_name(param)
    if "raw" in param.marks:
        return Piece(param.name, check=[not_null(param)], pass_on=["*" + param.name])
    if param.is_array:
        used = param.values.get("used")
        used = "*" + used if used else param.length
        return Piece(own, declare=[f"StatusArray {own};"],
                     check=[f"{own}.prepare(entry, {param.length}, {param.name})"], pass_on=[f"{own}.data()"],
                     store=[f"{own}.store({param.name}, {used}, entry.err == Err::in_status);"])
    piece = Piece(own, declare=[f"core::Status {own};"])
    if param.direction == "in":
        piece.check.append(f"entry.load({param.name}, {own}, {quoted(param)})")
        piece.pass_on.append(own)
    else:
        piece.pass_on.append(f"{param.name} != MPI_STATUS_IGNORE ? &{own} : nullptr")
        piece.store.append(f"if ({param.name} != MPI_STATUS_IGNORE) put_status({own}, *{param.name});")
    return piece


def string(param, around):
    own = own_name(param)
    if param.direction == "in" or "raw" in param.marks:
        check = [] if "optional" in param.marks else [unless(around.ignored(param), not_null(param))]
        return Piece(param.name, check=check, pass_on=[param.name])
    length = next(p for p in around.params if p.form == "string length")
    piece = Piece(own, declare=[f"std::string {own};"], check=[not_null(length)], pass_on=[own])
    if length.direction == "inout":
        piece.check.append(f"(*{length.name} <= 0 || {not_null(param)})")
        piece.store.append(f"put_bounded_text({own}, {param.name}, {length.name});")
    else:
        piece.check.append(not_null(param))
        piece.store.append(f"put_text({own}, {param.name}, {param.length}, {length.name});")
    return piece


def buffer(param, around):
    piece = Piece(param.name, pass_on=[f"own_buffer({param.name})" if "automatic" in param.marks else param.name])
    number = around.after(param, lambda p: p.form == "count" and not p.is_array)
    datatype = around.after(param, lambda p: p.kind.detail == "Datatype" and not p.is_array)
    if number is not None and datatype is not None and "unchecked" not in param.marks:
        in_place = "true" if "in-place" in param.marks else "false"
        check = f"entry.buffer({param.name}, {number.name}, {own_name(datatype)}, {in_place}, {quoted(param)})"
        piece.check.append(unless(around.ignored(param), check))
    return piece


def address(param, around):
    own = own_name(param)
    value = f"face_buffer({own})" if "automatic" in param.marks else own
    return Piece(own, declare=[f"void* {own} = nullptr;"], check=[not_null(param)], pass_on=[own],
                 store=[f"*static_cast<void**>({param.name}) = {value};"])


def weights(param, around):
    """An array, or one of two addresses that stand for none."""
    convert_to = "own_weights" if param.direction == "in" else "own_weights_out"
    return Piece(param.name, pass_on=[f"{convert_to}({param.name})"])


def function(param, around):
    """A callback that differs in the large-count form keeps its type: the callee must know which it gets."""
    typed = param.c_type(False) != param.c_type(True)
    optional = "optional" in param.marks
    return Piece(param.name, check=[] if optional else [f"entry.function({param.name}, {quoted(param)})"],
                 pass_on=[param.name if typed else f"reinterpret_cast<void*>({param.name})"])


def pointer(param, around):
    return Piece(param.name, pass_on=[param.name])


def nothing(param, around):
    return Piece(param.name)


FORMS = {"handle": handle, "count": count, "length": length, "int": integer, "rank": rank, "tag": tag, "logical": logical, "enum": enum,
         "status": status, "string": string, "string length": nothing, "buffer": buffer, "address": address,
         "function": function, "weights": weights, "pointer": pointer, "raw": pointer, "none": nothing}


def convert(param, around):
    return FORMS[param.form](param, around)
