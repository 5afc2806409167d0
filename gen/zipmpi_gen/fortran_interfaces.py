# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the explicit interfaces of modules mpi and mpi_f08."""

from . import fortran
from .fortran_constants import broken, head, procedures

# Directives that allow an argument of any type and rank.
ANY_BUFFER = ("!GCC$ ATTRIBUTES NO_ARG_CHECK ::", "!DEC$ ATTRIBUTES NO_ARG_CHECK ::", "!$PRAGMA IGNORE_TKR",
              "!DIR$ IGNORE_TKR", "!IBM* IGNORE_TKR")


def shape(param):
    if not param.is_array:
        return ""
    inner = [n for n in param.length.split(",")[1:]]
    if param.form == "status":
        inner = []
    return ", dimension(" + ", ".join([*inner, "*"]) + ")"


def intent(param):
    return f", intent({param.direction})"


def declare(kind, param, attributes=""):
    return f"{kind}{attributes} :: {fortran.name_of(param)}"


def number_type(param, wide):
    kinds = {"EXTRA_STATE2": "int", "ATTRIBUTE_VAL_10": "int", "EXTRA_STATE": "MPI_Aint", "ATTRIBUTE_VAL": "MPI_Aint"}
    if param.form == "logical":
        return "logical"
    return fortran.KINDS_OF_INTEGERS[kinds.get(param.kind.name, fortran.scalar_c_type(param, wide))]


def is_text(param):
    return param.form == "string" or param.kind.name.startswith("STRING_") and param.form == "pointer"


def text_array(param):
    dimensions = {"STRING_ARRAY": "*", "STRING_2DARRAY": f"{param.length}, *"}
    return f", dimension({dimensions[param.kind.name]})" if param.kind.name in dimensions else ""


# --- module mpi: integers, and buffers of any kind by address

def f90_declaration(param, wide, given_address="integer(MPI_ADDRESS_KIND)"):
    name = fortran.name_of(param)
    if param.form == "buffer" or param.kind.name == fortran.DETACHED_ADDRESS:
        return [f"{directive} {name}" for directive in ANY_BUFFER] + [f"type(*), dimension(*) :: {name}"]
    if param.kind.name == fortran.GIVEN_ADDRESS:
        return [f"{given_address} :: {name}"]
    if param.form == "function":
        return [f"external {name}"]
    if param.form == "status":
        return [f"integer, dimension(MPI_STATUS_SIZE{', *' if param.is_array else ''}) :: {name}"]
    if is_text(param):
        return [declare("character(len=*)", param, text_array(param))]
    kind = "integer" if param.form == "handle" else number_type(param, wide)
    return [declare(kind, param, shape(param) + ("" if param.form == "weights" or param.is_array else intent(param)))]


# --- module mpi_f08: typed handles, buffers by descriptor

def f08_declaration(param, wide):
    asynchronous = ", asynchronous" if "async" in param.marks else ""
    if param.form == "buffer":
        constant = ", intent(in)" if "const" in param.marks else ""
        return [declare("type(*)", param, ", dimension(..)" + constant + asynchronous)]
    if param.form == "address":
        return [declare("type(c_ptr)", param, ", intent(out)")]
    if param.form == "function":
        return [f"procedure({function_type(param, wide)}) :: {fortran.name_of(param)}"]
    if param.form == "status":
        return [declare("type(MPI_Status)", param, shape(param) + ("" if param.direction == "out" else intent(param)))]
    if is_text(param):
        return [declare("character(len=*)", param, text_array(param) + intent(param))]
    kind = f"type({param.kind.narrow})" if param.form == "handle" else number_type(param, wide)
    # Arrays may be special constants (MPI_UNWEIGHTED): no intent that allows the compiler to copy them.
    free = param.form == "weights" or param.kind.name == "ERROR_CODE" and param.is_array
    return [declare(kind, param, shape(param) + ("" if free else intent(param)) + asynchronous)]


def function_type(param, wide):
    return param.values["fn"] + ("_c" if wide and param.kind.wide != param.kind.narrow else "")


# --- procedures

def procedure(entry, name, lines_of, ierror, bind=""):
    listed = fortran.params(entry)
    arguments = [fortran.name_of(p) for p in listed] + (["ierror"] if fortran.has_ierror(entry) else [])
    result = fortran.RETURNED.get(entry.function.returns)
    what = f"{result} function" if result else "subroutine"
    out = broken(f"    {what} {name}({', '.join(arguments)}){bind}") + "      import\n"
    for param in listed:
        out += "".join(broken(f"      {line}") for line in lines_of(param))
    if fortran.has_ierror(entry):
        out += f"      {ierror} :: ierror\n"
    return out + f"    end {what.split()[-1]}\n"


def f90_text(entry, prefix):
    def text(name, **given):
        return procedure(entry, name, lambda p: f90_declaration(p, entry.wide, **given), "integer, intent(out)")
    name = prefix + entry.name
    if any(p.kind.name == fortran.GIVEN_ADDRESS for p in entry.params):
        both = text(name) + text(name + "_cptr", given_address="type(c_ptr)")
        return f"  interface {name}\n{both}  end interface\n"
    return f"  interface\n{text(name)}  end interface\n"


def f90_interfaces(spec):
    return head("Included by module mpi.") + "".join(
        f90_text(e, prefix) for e in fortran.entries(spec, "f90") for prefix in ("", "P"))


def f08_specific(entry, prefix):
    suffix = fortran.f08_suffix(entry)
    bind = f' bind(C, name="{fortran.symbol(entry, prefix, suffix)}")' if fortran.buffers(entry) else ""
    return procedure(entry, prefix + entry.name + suffix, lambda p: f08_declaration(p, entry.wide),
                     "integer, optional, intent(out)", bind)


def signature(entry):
    """The properties that distinguish specific procedures of a generic name. All kinds of eight bytes are equal."""
    def kind(param):
        declared = f08_declaration(param, entry.wide)[0].split(",")[0]
        return "integer(8)" if declared.startswith("integer(") else declared.split(" ::")[0]
    return [kind(p) for p in fortran.params(entry) if p.form != "function"]


def f08_interfaces(spec):
    out = head("Included by module mpi_f08.")
    for narrow in fortran.entries(spec, "f08"):
        if narrow.wide:
            continue
        wide = spec.by_name.get(narrow.name + "_c") if narrow.function.large else None
        apart = wide is not None and signature(wide) == signature(narrow)
        for prefix in ("", "P"):
            members = f08_specific(narrow, prefix)
            if wide is not None and not apart:
                members += f08_specific(wide, prefix)
            out += f"  interface {prefix}{narrow.name}\n{members}  end interface\n"
            if apart:
                out += f"  interface {prefix}{wide.name}\n{f08_specific(wide, prefix)}  end interface\n"
    return out


# --- user procedures

def callback_declaration(param, entry):
    if param.kind.name.startswith("C_BUFFER"):
        return [f"type(c_ptr), value :: {param.name}"]
    if param.form == "status":
        return [f"type(MPI_Status) :: {param.name}"]
    kind = f"type({param.kind.narrow})" if param.form == "handle" else number_type(param, entry.wide)
    return [f"{kind} :: {param.name}"]


def callback_text(entry):
    listed = fortran.params(entry)
    ierror = ["ierror"] if entry.function.returns == "int" else []
    out = broken(f"    subroutine {entry.name}({', '.join([p.name for p in listed] + ierror)})") + "      import\n"
    for param in listed:
        out += "".join(f"      {line}\n" for line in callback_declaration(param, entry))
    return out + ("      integer :: ierror\n" if ierror else "") + "    end subroutine\n"


def f08_callbacks(spec):
    known = [e for e in spec.callbacks if "no-f08" not in (e.function.fortran or "")]
    out = head("Included by module mpi_f08.") + "  abstract interface\n"
    out += "".join(callback_text(e) for e in known) + "  end interface\n"
    names = {e.name for e in known}
    return out + "".join(f"  procedure({kind}) :: {name}\n" for name, kind in procedures(spec).items() if kind in names)
