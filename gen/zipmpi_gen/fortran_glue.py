# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C++ behind mpif.h and module mpi: mpi_x_ and pmpi_x_, called as Fortran compilers do. mpi_f08 calls the same
code under the names of its own specific procedures."""

from dataclasses import dataclass, field

from . import fortran
from .text import cpp_head, wrap_call

INCLUDES = '#include "fortran/callbacks.hpp"\n#include "fortran/convert.hpp"\n\nusing namespace zipmpi::fortran;\n'


@dataclass
class Piece:
    """What one parameter adds to a function."""
    parameter: str = None  # None: Fortran has none
    argument: str = "{}"
    before: list = field(default_factory=list)
    after: list = field(default_factory=list)  # in each case
    success: list = field(default_factory=list)  # only if the call went well


class Around:
    def __init__(self, entry, binding):
        self.entry, self.binding, self.params = entry, binding, entry.params

    def first(self, test):
        return next((p for p in self.params if test(p)), None)

    @property
    def comm(self):
        return handle_in(self.first(lambda p: p.kind.name == "COMMUNICATOR" and p.direction == "in"))

    def in_place_before(self, param):
        """The buffer that makes an array of types meaningless if it is MPI_IN_PLACE."""
        before = [p for p in self.params[:self.params.index(param)] if p.form == "buffer"]
        return before[-1] if before and "in-place" in before[-1].marks else None


def handle_in(param):
    return f"c_handle<{param.kind.narrow}>(*{param.name})"


def plain(param, around):
    kind = fortran.scalar_c_type(param, around.entry.wide)
    if param.is_array:
        const = "const " if "const" in param.marks else ""
        inner = param.length.split(",")[1:]
        argument = param.name
        if inner:  # C has the dimensions the other way round
            argument = f"reinterpret_cast<{const}{kind} (*)[{inner[0]}]>({param.name})"
        return Piece(f"{const}{kind}* {param.name}", argument)
    if param.direction == "in":
        return Piece(f"const {kind}* {param.name}", f"*{param.name}")
    return Piece(f"{kind}* {param.name}", param.name)


def index(param, around):
    """Counted from one. Set before: on an error the library may have written nothing."""
    piece = plain(param, around)
    if param.is_array:
        used = param.values["used"]
        piece.before.append(f"*{used} = 0;")
        piece.after.append(f"count_from_one({param.name}, *{used});")
    else:
        piece.before.append(f"*{param.name} = MPI_UNDEFINED;")
        piece.after.append(f"count_from_one({param.name}, 1);")
    return piece


def handle(param, around):
    own, kind = f"c_{param.name}", param.kind.narrow
    if param.is_array:
        return handle_array(param, around)
    if param.direction == "in":
        if "by-address" in param.marks:
            return Piece(f"const int* {param.name}", f"&{own}", before=[f"{kind} {own} = {handle_in(param)};"])
        return Piece(f"const int* {param.name}", handle_in(param))
    store = f"*{param.name} = f_handle({own});"
    if param.direction == "out":
        return Piece(f"int* {param.name}", f"&{own}", before=[f"{kind} {own}{{}};"], success=[store])
    return Piece(f"int* {param.name}", f"&{own}", before=[f"{kind} {own} = {handle_in(param)};"], after=[store])


REACHED = {"*": "peer_count", "sources": "source_count", "destinations": "destination_count"}


def handle_array(param, around):
    own = f"c_{param.name}"
    length = f"{REACHED[param.length]}({around.comm})" if param.length in REACHED else f"*{param.length}"
    replaced = around.in_place_before(param)
    if replaced is not None:
        length = f"is_in_place({replaced.name}) ? 0 : {length}"
    if "root-only" in param.marks:
        length = f"{at_root(around)} ? {length} : 0"
    const = "const " if param.direction == "in" else ""
    source = "nullptr" if param.direction == "out" else param.name
    return Piece(f"{const}int* {param.name}", f"{own}.data()",
                 before=[f"Handles<{param.kind.narrow}> {own}({source}, {length});"],
                 after=[] if param.direction == "in" else [f"{own}.give_back({param.name});"])


def at_root(around):
    return f"at_root(*root, {around.comm})"


def status(param, around):
    const = "const " if param.direction == "in" else ""
    argument = f"c_statuses({param.name})" if param.direction == "out" else param.name
    return Piece(f"{const}MPI_Status* {param.name}", argument)


def buffer(param, around):
    const = "const " if "const" in param.marks else ""
    return Piece(f"{const}void* {param.name}", f"c_buffer({param.name})")


def address(param, around):
    if param.kind.name == fortran.DETACHED_ADDRESS:
        own = f"c_{param.name}"
        store = [f"give_buffer({param.name}, {own});"] if around.binding == "f08" else []
        unused = "" if store else "[[maybe_unused]] "
        return Piece(f"{unused}void* {param.name}", f"&{own}", before=[f"void* {own} = nullptr;"], success=store)
    return Piece(f"void* {param.name}", param.name)


def string(param, around):
    own, length = f"c_{param.name}", f"{param.name}_length"
    if param.direction == "in":
        strip = "Strip::both" if "stripped" in param.marks else "Strip::end"
        return Piece(f"const char* {param.name}", f"{own}.data()", before=[f"Text {own}({param.name}, {length}, {strip});"])
    bounded = around.first(lambda p: is_bound(p))
    if bounded is not None:
        capacity = f"c_{bounded.name}"
    elif around.first(lambda p: p.name == param.length) is not None:
        capacity = f"*{param.length} + 1"
    else:
        capacity = param.length or "longest_text"
    return Piece(f"char* {param.name}", f"{own}.data()",
                 before=[f"ResultText {own}({param.name}, {length}, {capacity});"], success=[f"{own}.give_back();"])


def is_bound(param):
    """A length that C counts with the terminating zero, and Fortran without."""
    return param.direction == "inout" and param.kind.name in ("STRING_LENGTH", "INFO_VALUE_LENGTH")


def bound(param, around):
    own = f"c_{param.name}"
    return Piece(f"int* {param.name}", f"&{own}", before=[f"int {own} = *{param.name} > 0 ? *{param.name} + 1 : 0;"],
                 success=[f"*{param.name} = {own} > 0 ? {own} - 1 : 0;"])


def string_array(param, around):
    own, length = f"c_{param.name}", f"{param.name}_length"
    if param.kind.name == "STRING_2DARRAY":
        make = f"TextTable {own}({param.name}, {length}, *{param.length}, {at_root(around)});"
    elif param.is_array:
        make = f"TextList {own}({param.name}, {length}, {at_root(around)} ? *{param.length} : 0);"
    else:
        make = f"TextList {own}({param.name}, {length}, {at_root(around)} ? up_to_blank : 0);"
    return Piece(f"const char* {param.name}", f"{own}.data()", before=[make])


def function(param, around):
    name = param.values["fn"] + ("_c" if around.entry.wide and param.kind.wide != param.kind.narrow else "")
    states = around.first(lambda p: p.kind.name.startswith("EXTRA_STATE"))
    alike = [p.name for p in around.params if p.values.get("fn") == param.values["fn"]]
    number = f"_{alike.index(param.name)}" if len(alike) > 1 else ""
    argument = f"adapter({param.name}, &call_{name}{number})" if states else f"slot_of<{name}>({param.name})"
    return Piece(f"Procedure* {param.name}", argument)


def extra_state(param, around):
    procedures = ", ".join(p.name for p in around.params if p.form == "function")
    kind = "int" if param.kind.name.endswith("2") else "MPI_Aint"
    return Piece(f"const {kind}* {param.name}", f"remember({param.name}, {procedures})")


def attribute(param, around):
    kind = "int" if param.kind.name.endswith("10") else "MPI_Aint"
    if param.direction == "in":
        return Piece(f"const {kind}* {param.name}", f"reinterpret_cast<void*>(static_cast<MPI_Aint>(*{param.name}))")
    own = f"c_{param.name}"
    keyval = around.first(lambda p: p.kind.name == "KEYVAL").name
    flag = around.first(lambda p: p.form == "logical").name
    return Piece(f"{kind}* {param.name}", f"&{own}", before=[f"void* {own} = nullptr;"],
                 success=[f"if (*{flag} != 0) *{param.name} = static_cast<{kind}>(attribute_value(*{keyval}, {own}));"])


FORMS = {"handle": handle, "status": status, "buffer": buffer, "address": address, "string": string, "function": function,
         "weights": lambda p, a: Piece(plain(p, a).parameter, f"c_weights({p.name})")}
KINDS = {"STRING_ARRAY": string_array, "STRING_2DARRAY": string_array, "EXTRA_STATE": extra_state,
         "EXTRA_STATE2": extra_state, "ATTRIBUTE_VAL": attribute, "ATTRIBUTE_VAL_10": attribute}


def piece_of(param, around):
    if param.kind.name in fortran.C_ONLY:
        return Piece()
    if "one-based" in param.marks:
        return index(param, around)
    if is_bound(param):
        return bound(param, around)
    if param.kind.name == "ERROR_CODE" and param.is_array:
        return Piece(f"int* {param.name}", f"c_error_codes({param.name})")
    return KINDS.get(param.kind.name, FORMS.get(param.form, plain))(param, around)


def ordered(pieces, entry):
    """Lengths first: the buffers of texts are made with them."""
    rank = {id(piece): 0 if is_bound(p) else 1 for p, piece in zip(entry.params, pieces)}
    return sorted(pieces, key=lambda piece: rank[id(piece)])


def body(entry, pieces, prefix):
    arguments = ", ".join(p.argument for p, q in zip(pieces, entry.params) if q.kind.name != "VARARGS")
    call = f"{prefix}{entry.name}({arguments})"
    if entry.function.returns:
        return [f"return {call};"]
    lines = [line for p in ordered(pieces, entry) for line in p.before]
    after = [line for p in pieces for line in p.after]
    success = [line for p in pieces for line in p.success]
    if not fortran.has_ierror(entry):
        return lines + [f"{call};"]
    if not after and not success:
        return lines + [f"give(ierror, {call});"]
    lines.append(f"const int err = {call};")
    if len(success) == 1 and not success[0].startswith("if"):
        lines.append(f"if (err == MPI_SUCCESS) {success[0]}")
    elif success:
        lines += ["if (err == MPI_SUCCESS) {", *("    " + line for line in success), "}"]
    return lines + after + ["give(ierror, err);"]


def parameters(entry, pieces):
    listed = [p.parameter for p in pieces if p.parameter]
    if fortran.has_ierror(entry):
        listed.append("int* ierror")
    return ", ".join(listed + [f"size_t {p.name}_length" for p in fortran.strings(entry)])


def definition(entry, prefix, binding="f90"):
    around = Around(entry, binding)
    pieces = [piece_of(p, around) for p in entry.params]
    result = entry.function.returns or "void"
    suffix = "_f08" if binding == "f08" else ""
    head = f"{result} {fortran.symbol(entry, prefix, suffix)}"
    text = wrap_call(head, parameters(entry, pieces), " {")
    return text + "".join(f"    {line}\n" for line in body(entry, pieces, prefix)) + "}\n"


def also(entry, prefix, suffix):
    return f"ALSO_CALLED({fortran.symbol(entry, prefix)}, {fortran.symbol(entry, prefix, suffix)})\n"


def function_text(entry, prefix):
    text = definition(entry, prefix)
    kinds = {p.kind.name for p in entry.params}
    if not entry.wide and fortran.GIVEN_ADDRESS in kinds:
        text += also(entry, prefix, "_cptr")
    if fortran.has_binding(entry.function, "f08") and not fortran.buffers(entry):
        detached = fortran.DETACHED_ADDRESS in kinds
        text += definition(entry, prefix, "f08") if detached else also(entry, prefix, "_f08")
    return text


def chapter_file(spec, chapter):
    about = f"Functions of chapter {chapter.number} as Fortran calls them."
    listed = [e for e in spec.entries_of(chapter) if fortran.has_binding(e.function, "f90")]
    functions = "\n".join(function_text(e, prefix) for e in listed for prefix in ("", "P"))
    return cpp_head(about) + INCLUDES + '\nextern "C" {\n\n' + functions + "\n} // extern \"C\"\n"
