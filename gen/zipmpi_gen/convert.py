# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Code of one parameter in an entry point: declarations, checks, argument and results.

There is one function per form (the fourth column of spec/abi/kinds.tsv). The relations between parameters (buffer and
count, datatype and buffer, rank and communicator) follow from their order and marks.
"""

from dataclasses import dataclass, field

from . import special
from .spec import SpecError


@dataclass
class ParamCode:
    """The code of one parameter. own: name of its converted form."""
    own: str
    declare: list = field(default_factory=list)
    check: list = field(default_factory=list)  # boolean expressions
    setup: list = field(default_factory=list)  # statements after the checks
    pass_on: list = field(default_factory=list)
    store: list = field(default_factory=list)  # statements after the call


class Context:
    """The other parameters of an entry point."""

    def __init__(self, entry, spec=None):
        """spec: of the ABI; None: the standard one."""
        self.entry = entry
        self.params = entry.params
        self.spec = spec

    def first(self, form, detail="", direction="in"):
        for p in self.params:
            if (p.form, p.kind.detail) == (form, detail) and p.direction == direction and not p.is_array:
                return p
        return None

    @property
    def comm(self):
        """The communicator of the call. One that may be null is an ordinary argument."""
        comm = self.first("handle", "Comm") or self.first("handle", "Comm", "inout")
        return comm if comm is not None and "optional" not in comm.marks else None

    @property
    def session(self):
        return self.first("handle", "Session") or self.first("handle", "Session", "inout")

    @property
    def win(self):
        """The window of the call."""
        return self.first("handle", "Win") or self.first("handle", "Win", "inout")

    @property
    def file(self):
        """The file of the call."""
        return self.first("handle", "File") or self.first("handle", "File", "inout")

    @property
    def freed(self):
        """The object of the call that it may free."""
        on = (self.comm, self.session, self.win, self.file)
        return next((p for p in on if p is not None and p.direction == "inout"), None)

    @property
    def made(self):
        """The created object, if the call takes its error handler."""
        raises = any("raises" in p.marks for p in self.params)
        return next((p for p in self.params if p.form == "handle" and p.direction == "out"), None) if raises else None

    @property
    def owned(self):
        """Input requests and messages, which belong to a communicator implicitly."""
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
        """C++ expression that is true if the parameter is not significant; empty: never."""
        if "root-only" in param.marks:
            return "!at_root"
        if "unless-no-op" in param.marks:
            return f"{self.first('handle', 'Op').name} == MPI_NO_OP"
        is_bystander = f"is_bystander(*{converted_name(self.comm)}, {self.root.name})" if self.root and self.comm else ""
        if param.form == "buffer":
            return is_bystander
        buffer = self.buffer_before(param)
        describes_buffer = param.form == "count" or param.kind.detail == "Datatype"
        if buffer is not None and "in-place" in buffer.marks and describes_buffer:
            # in reductions, the arguments that describe the buffer are also significant at the root
            both = is_bystander and not self.first("handle", "Op")
            return f"is_in_place({buffer.name}) || {is_bystander}" if both else f"is_in_place({buffer.name})"
        return ""


def converted_name(param):
    return param.name + "_"


def quoted(param):
    return f'"{param.name}"'


def not_null(param):
    return f"entry.out({param.name}, {quoted(param)})"


def unless(ignored, check):
    return f"({ignored} || {check})" if ignored else check


def handle(param, context):
    own = converted_name(param)
    cls = param.kind.detail
    if param.is_array:
        return handle_array(param, own, context)
    code = ParamCode(own, declare=[f"core::{cls}* {own} = nullptr;"])
    value = param.name
    if param.direction != "in":
        code.check.append(not_null(param))
        value = "*" + param.name
        code.store.append(f"*{param.name} = handle_of({own});")
    elif "by-address" in param.marks:
        code.check.append(not_null(param))
        value = "*" + param.name
    if param.direction == "out":
        code.pass_on.append(own)
        return code
    ignored = context.ignored(param)
    optional = "optional" in param.marks or (cls == "Info" and "required" not in param.marks)
    on_it = param in (context.win, context.file) and "optional" not in param.marks
    if param in (context.comm, context.session) or on_it:
        find = "on"
    elif "raises" in param.marks:
        find = "use_errhandler"
        if optional:
            ignored = f"{value} == MPI_{param.kind.name}_NULL"
    else:
        find = "optional_handle" if optional else "handle"
    code.check.append(unless(ignored, f"entry.{find}({value}, {own}, {quoted(param)})"))
    if cls == "Datatype" and context.buffer_before(param) is not None:
        code.check.append(unless(ignored, f"entry.committed({value}, *{own}, {quoted(param)})"))
    by_pointer = optional or ignored or param.direction == "inout"
    code.pass_on.append(own if by_pointer else "*" + own)
    return code


def handle_array(param, own, context):
    if "raw" in param.marks:
        return ParamCode(param.name, pass_on=[param.name])
    if param.kind.detail == "Datatype" and param.direction != "inout":
        return datatype_array(param, own, context)
    if param.kind.detail != "Request" or param.direction == "out":
        raise SpecError(f"array of {param.kind.name} has no conversion yet")
    completes_one = any(p.name == "indx" for p in context.params)
    store = f"{own}.store_at({param.name}, *indx);" if completes_one else f"{own}.store({param.name});"
    return ParamCode(own, declare=[f"RequestArray {own};"],
                 check=[f"{own}.load(entry, {param.length}, {param.name}, {quoted(param)})"],
                 pass_on=[f"{own}.data()"],
                 store=[store] if param.direction == "inout" else [])


# Array lengths determined by the communicator.
REACHED = {"*": "size_of", "sources": "sources_of", "destinations": "destinations_of"}


def datatype_array(param, own, context):
    """Committed datatypes of a collective, one for each peer."""
    code = ParamCode(own, declare=[f"DatatypeArray {own};"], pass_on=[f"{own}.data()"])
    if param.length in REACHED:
        reached = f"core::{REACHED[param.length]}(*{converted_name(context.comm)})"
        load = f"{own}.load_committed(entry, {reached}, {param.name}, {quoted(param)})"
        code.check.append(unless(context.ignored(param), load))
    elif param.direction == "in":
        code.check.append(f"{own}.load(entry, {param.length}, {param.name}, {quoted(param)})")
    else:
        code.check.append(f"{own}.prepare(entry, {param.length}, {param.name}, {quoted(param)})")
        code.store.append(f"{own}.store({param.name});")
    return code


def array_there(param, context):
    """An array of known length may be null if it is empty."""
    if any(p.name == param.length for p in context.params):
        return f"entry.out_array({param.name}, {param.length}, {quoted(param)})"
    return not_null(param)


def count_array(param, context):
    check = unless(context.ignored(param), array_there(param, context))
    if param.direction != "in":
        if param.kind.narrow == "int":
            raise SpecError(f"{context.entry.name}: array of {param.kind.name} to be written has no conversion yet")
        return ParamCode(converted_name(param), check=[check], pass_on=[param.name])
    width = "wide" if param.c_type(context.entry.wide)[0].split()[-1] != "int" else "narrow"
    return ParamCode(converted_name(param), check=[check], pass_on=[f"{width}_array({param.name})"])


def count(param, context):
    own = converted_name(param)
    if param.is_array:
        return count_array(param, context)
    if param.direction == "in":
        check = {"nonnegative": [f"entry.count({param.name}, {quoted(param)})"],
                 "positive": [f"entry.positive({param.name}, {quoted(param)})"], "-": []}[param.kind.check]
        return ParamCode(own, check=[unless(context.ignored(param), c) for c in check], pass_on=[param.name])
    start = "0" if param.direction == "out" else f"{param.name} != nullptr ? *{param.name} : 0"
    return ParamCode(own, declare=[f"int64_t {own} = {start};"], check=[not_null(param)], pass_on=[own],
                 store=[f"put_count({param.name}, {own});"])


def integer(param, context):
    if "raw" in param.marks:
        return ParamCode(param.name, pass_on=[param.name])
    if param.is_array and (param.direction != "in" or any(p.name == param.length for p in context.params)):
        return ParamCode(param.name, check=[f"entry.out_array({param.name}, {param.length}, {quoted(param)})"],
                     pass_on=[param.name])
    if param.direction == "in":
        return ParamCode(param.name, pass_on=[param.name])
    return ParamCode(param.name, check=[not_null(param)], pass_on=["*" + param.name])


def length(param, context):
    """The length of an array: checked like a count as input, an int as output."""
    return count(param, context) if param.direction == "in" else integer(param, context)


def rank(param, context):
    code = integer(param, context)
    if param.direction != "in" or param.is_array or "unchecked" in param.marks:
        return code
    group = context.comm or context.win
    if group is None:
        raise SpecError(f"{context.entry.name}: rank {param.name} has no communicator or window to check it against")
    if "root" in param.marks:
        check = "root"
    elif "wild" in param.marks:
        check = "source"
    else:
        check = "peer" if "peer" in param.marks else "member"
    code.check.append(f"entry.{check}({param.name}, {converted_name(group)}, {quoted(param)})")
    return code


def tag(param, context):
    code = integer(param, context)
    if param.direction == "in" and "unchecked" not in param.marks:
        check = "tag_or_any" if "wild" in param.marks else "tag"
        code.check.append(f"entry.{check}({param.name}, {quoted(param)})")
    return code


def logical(param, context):
    own = converted_name(param)
    if param.is_array:
        return integer(param, context)
    if param.direction == "in":
        return ParamCode(own, pass_on=[f"{param.name} != 0"])
    return ParamCode(own, declare=[f"bool {own} = false;"], check=[not_null(param)], pass_on=[own],
                 store=[f"*{param.name} = {own} ? 1 : 0;"])


def enum(param, context):
    own = converted_name(param)
    code = ParamCode(own, declare=[f"core::{param.kind.detail} {own}{{}};"], pass_on=[own])
    if param.direction == "in":
        code.check.append(f"entry.enumerator({param.name}, {own}, {quoted(param)})")
    else:
        code.check.append(not_null(param))
        code.store.append(f"*{param.name} = code_of({own});")
    return code


def status(param, context):
    own = converted_name(param)
    if "raw" in param.marks:
        return ParamCode(param.name, check=[not_null(param)], pass_on=["*" + param.name])
    if param.is_array:
        used = param.values.get("used")
        used = "*" + used if used else param.length
        flag = context.first("logical", direction="out")
        if flag:  # MPI_Testall: programs may expect unchanged statuses if not all requests are complete
            used = f"{converted_name(flag)} ? {used} : 0"
        return ParamCode(own, declare=[f"StatusArray {own};"],
                     check=[f"{own}.prepare(entry, {param.length}, {param.name})"], pass_on=[f"{own}.data()"],
                     store=[f"{own}.store({param.name}, {used}, entry.err == Err::in_status);"])
    code = ParamCode(own, declare=[f"core::Status {own};"])
    if param.direction == "in":
        code.check.append(f"entry.load({param.name}, {own}, {quoted(param)})")
        code.pass_on.append(own)
    else:
        code.pass_on.append(f"{param.name} != MPI_STATUS_IGNORE ? &{own} : nullptr")
        code.store.append(f"if ({param.name} != MPI_STATUS_IGNORE) put_status({own}, *{param.name});")
    return code


def string(param, context):
    own = converted_name(param)
    if param.direction == "in" or "raw" in param.marks:
        check = [] if "optional" in param.marks else [unless(context.ignored(param), not_null(param))]
        return ParamCode(param.name, check=check, pass_on=[param.name])
    length = next(p for p in context.params if p.form == "string length")
    code = ParamCode(own, declare=[f"std::string {own};"], check=[not_null(length)], pass_on=[own])
    if length.direction == "inout":
        code.check.append(f"(*{length.name} <= 0 || {not_null(param)})")
        code.store.append(f"put_bounded_text({own}, {param.name}, {length.name});")
    else:
        code.check.append(not_null(param))
        code.store.append(f"put_text({own}, {param.name}, {param.length}, {length.name});")
    return code


def buffer(param, context):
    code = ParamCode(param.name, pass_on=[f"from_abi_buffer({param.name})" if "automatic" in param.marks else param.name])
    number = context.after(param, lambda p: p.form == "count" and not p.is_array)
    datatype = context.after(param, lambda p: p.kind.detail == "Datatype" and not p.is_array)
    if number is not None and datatype is not None and "unchecked" not in param.marks:
        in_place = "true" if "in-place" in param.marks else "false"
        check = f"entry.buffer({param.name}, {number.name}, {converted_name(datatype)}, {in_place}, {quoted(param)})"
        code.check.append(unless(context.ignored(param), check))
    return code


def address(param, context):
    own = converted_name(param)
    value = f"to_abi_buffer({own})" if "automatic" in param.marks else own
    return ParamCode(own, declare=[f"void* {own} = nullptr;"], check=[not_null(param)], pass_on=[own],
                 store=[f"*static_cast<void**>({param.name}) = {value};"])


def weights(param, context):
    """An array, or one of two special addresses."""
    convert_to = "from_abi_weights" if param.direction == "in" else "from_abi_weights_out"
    return ParamCode(param.name, pass_on=[f"{convert_to}({param.name})"])


def function(param, context):
    """A callback that differs in the large-count form keeps its type, so that overloads can distinguish it."""
    typed = param.c_type(False) != param.c_type(True)
    optional = "optional" in param.marks
    return ParamCode(param.name, check=[] if optional else [f"entry.function({param.name}, {quoted(param)})"],
                 pass_on=[param.name if typed else f"reinterpret_cast<void*>({param.name})"])


def pointer(param, context):
    return ParamCode(param.name, pass_on=[param.name])


def nothing(param, context):
    return ParamCode(param.name)


FORMS = {"handle": handle, "count": count, "length": length, "int": integer, "rank": rank, "tag": tag, "logical": logical, "enum": enum,
         "status": status, "string": string, "string length": nothing, "buffer": buffer, "address": address,
         "function": function, "weights": weights, "pointer": pointer, "raw": pointer, "none": nothing}


def convert(param, context):
    return special.convert(param, FORMS[param.form](param, context), context)
