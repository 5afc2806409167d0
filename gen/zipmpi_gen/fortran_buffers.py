# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes f08_buffers.c: the procedures of mpi_f08 with buffers. They convert descriptors to addresses (fortran/sections.h)
and call the procedures of mpif.h."""

from . import fortran
from .text import LICENSE, wrap_call

# Chapters whose calls send or receive exactly the data described by one buffer, count and datatype.
ONE_MESSAGE = {"p2p", "rma", "io", "type"}


def owned(entry, buffer):
    """The parameters that describe this buffer: up to the next buffer, or its datatype."""
    found = []
    for param in entry.params[entry.params.index(buffer) + 1:]:
        if param.form == "buffer":
            return found
        found.append(param)
        if param.kind.name == "DATATYPE":
            return found
    return found


def datatype_of(entry, buffer):
    return next((p for p in owned(entry, buffer) if p.kind.name == "DATATYPE" and not p.is_array), None)


def count_of(entry, buffer):
    if datatype_of(entry, buffer) is None:
        return None
    return next((p for p in owned(entry, buffer) if p.form == "count" and "NUM_ELEM" in p.kind.name and not p.is_array), None)


def use_of(entry, buffer):
    around = owned(entry, buffer)
    collective = entry.function.chapter.key not in ONE_MESSAGE
    shared = any(p.form == "buffer" and not owned(entry, p) for p in entry.params)
    if shared and collective or any(p.kind.name == "DATATYPE" and p.is_array for p in around):
        return "whole"
    if datatype_of(entry, buffer) is None:
        sized = any("NUM_BYTES" in p.kind.name or "PACK_SIZE" in p.kind.name for p in around)
        return "whole" if sized and entry.function.chapter.key == "type" else "address"
    if any(p.kind.name == "OPERATION" for p in entry.params) and collective:
        return "whole"
    if count_of(entry, buffer) is None and not any(p.form == "count" and p.is_array for p in around):
        return "address"
    return "exact" if not collective and count_of(entry, buffer) is not None else "strided"


def settings(entry, buffer):
    written = "true" if buffer.direction != "in" else "false"
    may_copy = "false" if "async" in buffer.marks else "true"
    return f"(struct zipmpi_buffer){{zipmpi_{use_of(entry, buffer)}, {written}, {may_copy}}}"


def is_text(param):
    return param.form == "string"


def call(entry, function, replaced):
    arguments = []
    for param in fortran.params(entry):
        plain = f"{param.name}->base_addr" if param.form == "buffer" or is_text(param) else param.name
        arguments.append(replaced.get(param.name, plain))
    arguments.append("ierror")
    arguments += [f"{p.name}->elem_len" for p in fortran.strings(entry)]
    return f"{function}({', '.join(arguments)})"


def noncontiguous_body(entry):
    replaced, opened, listed = {}, "", fortran.buffers(entry)
    for i, buffer in enumerate(listed):
        count, datatype = count_of(entry, buffer), datatype_of(entry, buffer)
        given = f"&(MPI_Count){{*{count.name}}}" if count else "NULL"
        opened += (f"    if (err == MPI_SUCCESS)\n        err = zipmpi_section_open(&s[{i}], {buffer.name},\n"
                   f"            {settings(entry, buffer)}, {given}, {datatype.name if datatype else 'NULL'});\n")
        replaced[buffer.name] = f"s[{i}].address"
        if count:
            own = "large_count" if fortran.scalar_c_type(count, entry.wide) == "MPI_Count" else "count"
            replaced[count.name] = f"s[{i}].has_count ? &s[{i}].{own} : {count.name}"
        if datatype:
            replaced[datatype.name] = f"s[{i}].has_type ? &s[{i}].type : {datatype.name}"
    closed = "".join(f"    zipmpi_section_close(&s[{i}], {b.name});\n" for i, b in enumerate(listed))
    return (f"    struct zipmpi_section s[{len(listed)}] = {{0}};\n    int err = MPI_SUCCESS;\n{opened}"
            f"    if (err == MPI_SUCCESS)\n        {call(entry, 'function', replaced)};\n"
            f"    else\n        zipmpi_section_failed(err, ierror);\n{closed}")


def c_type(param, wide):
    if param.form == "buffer" or is_text(param):
        return "CFI_cdesc_t *"
    if param.form == "count":
        return fortran.scalar_c_type(param, wide) + " *"
    return "int *" if param.form == "handle" else "void *"


def inner_types(entry):
    """Parameter types of the mpif.h procedure."""
    outer = [c_type(p, entry.wide) for p in fortran.params(entry)]
    listed = ["void *" if t.startswith("CFI") else t for t in outer] + ["int *"]
    return ", ".join(listed + ["size_t" for _ in fortran.strings(entry)])


def outer_parameters(entry):
    return ", ".join([f"{c_type(p, entry.wide)}{p.name}" for p in fortran.params(entry)] + ["int *ierror"])


def noncontiguous(entry):
    """The slow path, for the MPI name and the PMPI name."""
    head = f"COLD static void {entry.name.lower()}_noncontiguous"
    return wrap_call(head, f"void (*function)({inner_types(entry)}), {outer_parameters(entry)}", " {") + noncontiguous_body(entry) + "}\n"


def function_text(entry, prefix):
    target = fortran.symbol(entry, prefix)
    text = wrap_call(f"void {target}", inner_types(entry), ";")
    # A profiling tool in the application may define its own.
    weak = "" if prefix else "WEAK "
    text += wrap_call(f"{weak}void {fortran.symbol(entry, prefix, fortran.f08_suffix(entry))}", outer_parameters(entry), " {")
    noncontiguous = " || ".join(f"zipmpi_is_noncontiguous({b.name})" for b in fortran.buffers(entry) if use_of(entry, b) != "address")
    if noncontiguous:
        names = ", ".join([p.name for p in fortran.params(entry)] + ["ierror"])
        text += f"    if (UNLIKELY({noncontiguous}))\n        {entry.name.lower()}_noncontiguous({target}, {names});\n    else\n    "
    return text + f"    {call(entry, target, {})};\n}}\n"


def entry_text(entry):
    odd = any(use_of(entry, b) != "address" for b in fortran.buffers(entry))
    return (noncontiguous(entry) if odd else "") + "".join(function_text(entry, prefix) for prefix in ("", "P"))


def f08_buffers(spec):
    head = "/* " + LICENSE.replace("\n", "\n * ") + "\n *\n * Generated by gen/ from spec/: do not edit. Buffers of mpi_f08.\n */\n"
    head += '#include "sections.h"\n\n#define COLD __attribute__((cold, noinline))\n#define WEAK __attribute__((weak))\n#define UNLIKELY(condition) __builtin_expect(condition, 0)\n\n'
    head += "void mpi_f_sync_reg_f08ts_(CFI_cdesc_t *buf) { (void)buf; }\nvoid pmpi_f_sync_reg_f08ts_(CFI_cdesc_t *buf) { (void)buf; }\n\n"
    listed = [e for e in fortran.entries(spec, "f08") if fortran.buffers(e)]
    return head + "\n".join(map(entry_text, listed))
