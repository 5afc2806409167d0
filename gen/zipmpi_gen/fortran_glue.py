# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C++ code of mpif.h and module mpi: mpi_x_ and pmpi_x_ with the calling convention of Fortran compilers.
mpi_f08 uses the same code under the names of its specific procedures."""

from dataclasses import dataclass, field

from . import fortran
from .text import cpp_head, wrap_call

INCLUDES = '#include "fortran/callbacks.hpp"\n#include "fortran/convert.hpp"\n\nusing namespace zipmpi::fortran;\n'


@dataclass
class ParamCode:
    """The code of one parameter in a function."""
    parameter: str = None  # None: not in Fortran
    argument: str = "{}"
    before: list = field(default_factory=list)
    after: list = field(default_factory=list)  # always executed
    success: list = field(default_factory=list)  # only on success


class Context:
    def __init__(self, entry, binding):
        self.entry, self.binding, self.params = entry, binding, entry.params

    def first(self, test):
        return next((p for p in self.params if test(p)), None)

    @property
    def comm(self):
        return handle_in(self.first(lambda p: p.kind.name == "COMMUNICATOR" and p.direction == "in"))

    def in_place_before(self, param):
        """The buffer that makes an array of types insignificant if it is MPI_IN_PLACE."""
        before = [p for p in self.params[:self.params.index(param)] if p.form == "buffer"]
        return before[-1] if before and "in-place" in before[-1].marks else None


def handle_in(param):
    return f"c_handle<{param.kind.narrow}>(*{param.name})"


def plain(param, context):
    kind = fortran.scalar_c_type(param, context.entry.wide)
    if param.is_array:
        const = "const " if "const" in param.marks else ""
        inner = param.length.split(",")[1:]
        argument = param.name
        if inner:  # C has the dimensions in reverse order
            argument = f"reinterpret_cast<{const}{kind} (*)[{inner[0]}]>({param.name})"
        return ParamCode(f"{const}{kind}* {param.name}", argument)
    if param.direction == "in":
        return ParamCode(f"const {kind}* {param.name}", f"*{param.name}")
    return ParamCode(f"{kind}* {param.name}", param.name)


def index(param, context):
    """1-based. Initialized before the call: on an error the library may not write it."""
    code = plain(param, context)
    if param.is_array:
        used = param.values["used"]
        code.before.append(f"*{used} = 0;")
        code.after.append(f"to_one_based({param.name}, *{used});")
    else:
        code.before.append(f"*{param.name} = MPI_UNDEFINED;")
        code.after.append(f"to_one_based({param.name}, 1);")
    return code


def handle(param, context):
    own, kind = f"c_{param.name}", param.kind.narrow
    if param.is_array:
        return handle_array(param, context)
    if param.direction == "in":
        if "by-address" in param.marks:
            return ParamCode(f"const int* {param.name}", f"&{own}", before=[f"{kind} {own} = {handle_in(param)};"])
        return ParamCode(f"const int* {param.name}", handle_in(param))
    store = f"*{param.name} = f_handle({own});"
    if param.direction == "out":
        return ParamCode(f"int* {param.name}", f"&{own}", before=[f"{kind} {own}{{}};"], success=[store])
    return ParamCode(f"int* {param.name}", f"&{own}", before=[f"{kind} {own} = {handle_in(param)};"], after=[store])


REACHED = {"*": "peer_count", "sources": "source_count", "destinations": "destination_count"}


def handle_array(param, context):
    own = f"c_{param.name}"
    length = f"{REACHED[param.length]}({context.comm})" if param.length in REACHED else f"*{param.length}"
    replaced = context.in_place_before(param)
    if replaced is not None:
        length = f"is_in_place({replaced.name}) ? 0 : {length}"
    if "root-only" in param.marks:
        length = f"{at_root(context)} ? {length} : 0"
    const = "const " if param.direction == "in" else ""
    source = "nullptr" if param.direction == "out" else param.name
    return ParamCode(f"{const}int* {param.name}", f"{own}.data()",
                 before=[f"Handles<{param.kind.narrow}> {own}({source}, {length});"],
                 after=[] if param.direction == "in" else [f"{own}.store({param.name});"])


def at_root(context):
    return f"at_root(*root, {context.comm})"


def status(param, context):
    const = "const " if param.direction == "in" else ""
    argument = f"c_statuses({param.name})" if param.direction == "out" else param.name
    return ParamCode(f"{const}MPI_Status* {param.name}", argument)


def buffer(param, context):
    const = "const " if "const" in param.marks else ""
    return ParamCode(f"{const}void* {param.name}", f"c_buffer({param.name})")


def address(param, context):
    if param.kind.name == fortran.DETACHED_ADDRESS:
        own = f"c_{param.name}"
        store = [f"store_buffer({param.name}, {own});"] if context.binding == "f08" else []
        unused = "" if store else "[[maybe_unused]] "
        return ParamCode(f"{unused}void* {param.name}", f"&{own}", before=[f"void* {own} = nullptr;"], success=store)
    return ParamCode(f"void* {param.name}", param.name)


def string(param, context):
    own, length = f"c_{param.name}", f"{param.name}_length"
    if param.direction == "in":
        strip = "Strip::both" if "stripped" in param.marks else "Strip::end"
        return ParamCode(f"const char* {param.name}", f"{own}.data()", before=[f"Text {own}({param.name}, {length}, {strip});"])
    bounded = context.first(lambda p: is_bound(p))
    if bounded is not None:
        capacity = f"c_{bounded.name}"
    elif context.first(lambda p: p.name == param.length) is not None:
        capacity = f"*{param.length} + 1"
    else:
        capacity = param.length or "longest_text"
    return ParamCode(f"char* {param.name}", f"{own}.data()",
                 before=[f"ResultText {own}({param.name}, {length}, {capacity});"], success=[f"{own}.store();"])


def is_bound(param):
    """A length that includes the terminating zero in C, and excludes it in Fortran."""
    return param.direction == "inout" and param.kind.name in ("STRING_LENGTH", "INFO_VALUE_LENGTH")


def bound(param, context):
    own = f"c_{param.name}"
    return ParamCode(f"int* {param.name}", f"&{own}", before=[f"int {own} = *{param.name} > 0 ? *{param.name} + 1 : 0;"],
                 success=[f"*{param.name} = {own} > 0 ? {own} - 1 : 0;"])


def string_array(param, context):
    own, length = f"c_{param.name}", f"{param.name}_length"
    if param.kind.name == "STRING_2DARRAY":
        make = f"ArgvTable {own}({param.name}, {length}, *{param.length}, {at_root(context)});"
    elif param.is_array:
        make = f"TextList {own}({param.name}, {length}, {at_root(context)} ? *{param.length} : 0);"
    else:
        make = f"TextList {own}({param.name}, {length}, {at_root(context)} ? until_blank : 0);"
    return ParamCode(f"const char* {param.name}", f"{own}.data()", before=[make])


def function(param, context):
    name = param.values["fn"] + ("_c" if context.entry.wide and param.kind.wide != param.kind.narrow else "")
    states = context.first(lambda p: p.kind.name.startswith("EXTRA_STATE"))
    alike = [p.name for p in context.params if p.values.get("fn") == param.values["fn"]]
    number = f"_{alike.index(param.name)}" if len(alike) > 1 else ""
    argument = f"adapter({param.name}, &call_{name}{number})" if states else f"slot_of<{name}>({param.name})"
    return ParamCode(f"Procedure* {param.name}", argument)


def extra_state(param, context):
    procedures = ", ".join(p.name for p in context.params if p.form == "function")
    kind = "int" if param.kind.name.endswith("2") else "MPI_Aint"
    return ParamCode(f"const {kind}* {param.name}", f"make_callback_state({param.name}, {procedures})")


def attribute(param, context):
    kind = "int" if param.kind.name.endswith("10") else "MPI_Aint"
    if param.direction == "in":
        return ParamCode(f"const {kind}* {param.name}", f"reinterpret_cast<void*>(static_cast<MPI_Aint>(*{param.name}))")
    own = f"c_{param.name}"
    keyval = context.first(lambda p: p.kind.name == "KEYVAL").name
    flag = context.first(lambda p: p.form == "logical").name
    return ParamCode(f"{kind}* {param.name}", f"&{own}", before=[f"void* {own} = nullptr;"],
                 success=[f"if (*{flag} != 0) *{param.name} = static_cast<{kind}>(attribute_value(*{keyval}, {own}));"])


FORMS = {"handle": handle, "status": status, "buffer": buffer, "address": address, "string": string, "function": function,
         "weights": lambda p, a: ParamCode(plain(p, a).parameter, f"c_weights({p.name})")}
KINDS = {"STRING_ARRAY": string_array, "STRING_2DARRAY": string_array, "EXTRA_STATE": extra_state,
         "EXTRA_STATE2": extra_state, "ATTRIBUTE_VAL": attribute, "ATTRIBUTE_VAL_10": attribute}


def code_of_param(param, context):
    if param.kind.name in fortran.C_ONLY:
        return ParamCode()
    if "one-based" in param.marks:
        return index(param, context)
    if is_bound(param):
        return bound(param, context)
    if param.kind.name == "ERROR_CODE" and param.is_array:
        return ParamCode(f"int* {param.name}", f"c_error_codes({param.name})")
    return KINDS.get(param.kind.name, FORMS.get(param.form, plain))(param, context)


def ordered(codes, entry):
    """Lengths first: string buffers depend on them."""
    rank = {id(code): 0 if is_bound(p) else 1 for p, code in zip(entry.params, codes)}
    return sorted(codes, key=lambda code: rank[id(code)])


def body(entry, codes, prefix):
    arguments = ", ".join(p.argument for p, q in zip(codes, entry.params) if q.kind.name != "VARARGS")
    call = f"{prefix}{entry.name}({arguments})"
    if entry.function.returns:
        return [f"return {call};"]
    lines = [line for p in ordered(codes, entry) for line in p.before]
    after = [line for p in codes for line in p.after]
    success = [line for p in codes for line in p.success]
    if not fortran.has_ierror(entry):
        return lines + [f"{call};"]
    if not after and not success:
        return lines + [f"store_ierror(ierror, {call});"]
    lines.append(f"const int err = {call};")
    if len(success) == 1 and not success[0].startswith("if"):
        lines.append(f"if (err == MPI_SUCCESS) {success[0]}")
    elif success:
        lines += ["if (err == MPI_SUCCESS) {", *("    " + line for line in success), "}"]
    return lines + after + ["store_ierror(ierror, err);"]


def parameters(entry, codes, length_type):
    listed = [p.parameter for p in codes if p.parameter]
    if fortran.has_ierror(entry):
        listed.append("int* ierror")
    return ", ".join(listed + [f"{length_type} {p.name}_length" for p in fortran.strings(entry)])


def definition(entry, prefix, binding="f90", length_type="size_t"):
    """length_type: of the hidden arguments with the lengths of strings."""
    context = Context(entry, binding)
    codes = [code_of_param(p, context) for p in entry.params]
    result = entry.function.returns or "void"
    suffix = "_f08" if binding == "f08" else ""
    head = f"{result} {fortran.symbol(entry, prefix, suffix)}"
    text = wrap_call(head, parameters(entry, codes, length_type), " {")
    return text + "".join(f"    {line}\n" for line in body(entry, codes, prefix)) + "}\n"


def also(entry, prefix, suffix):
    return f"FUNCTION_ALIAS({fortran.symbol(entry, prefix)}, {fortran.symbol(entry, prefix, suffix)})\n"


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
    about = f"Fortran procedures of chapter {chapter.number}."
    listed = [e for e in spec.entries_of(chapter) if fortran.has_binding(e.function, "f90")]
    functions = "\n".join(function_text(e, prefix) for e in listed for prefix in ("", "P"))
    return cpp_head(about) + INCLUDES + '\nextern "C" {\n\n' + functions + "\n} // extern \"C\"\n"
