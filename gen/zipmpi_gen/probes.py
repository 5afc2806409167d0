# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes C programs that check the header and the library against the tables."""

import re

from .header import enumerators
from .text import LICENSE

LAYOUT = """\
/* {license}
 *
 * Checks every constant, size and prototype of the tables against mpi.h. Compiles as C11 and as C++.
 */
#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
#define CHECK(condition, text) static_assert(condition, text)
#else
#define CHECK(condition, text) _Static_assert(condition, text)
#endif

{checks}
int bad_values(void) {{
    int bad = 0;
{values}    return bad;
}}

int main(void) {{ return bad_values() == 0 ? 0 : 1; }}
"""

MISSING = """\
/* {license}
 *
 * Calls every function that is not implemented with null and zero arguments.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong = 0;

__attribute__((unused)) static void expect(const char *name, int code, int wanted) {{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, cls = -1;
    if (wanted == MPI_ERR_UNSUPPORTED_OPERATION && MPI_Error_class(code, &cls) == MPI_SUCCESS) code = cls;
    if (code != wanted) {{
        printf("%s returned %d, expected %d\\n", name, code, wanted);
        ++wrong;
        return;
    }}
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || strstr(text, name) == NULL) {{
        printf("%s is not named in its error text: %s\\n", name, text);
        ++wrong;
    }}
}}

int main(int argc, char **argv) {{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
{calls}    printf("%d functions called, %d wrong\\n", {count}, wrong);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}}
"""


def number(constant, spec):
    """The value of a constant as an integer literal; aliases are resolved."""
    while not re.fullmatch(r"-?(0[xX])?[0-9a-fA-F]+", constant.value):
        constant = next(c for c in spec.constants if c.name == constant.value)
    return constant.value


def layout_checks(spec):
    out = ""
    for name, size in spec.layout["sizes"].items():
        out += f'CHECK(sizeof({name}) == {size}, "size of {name}");\n'
    for f in spec.layout["status_fields"]:
        out += f'CHECK(offsetof(MPI_Status, {f["name"]}) == {f["offset"]}, "offset of {f["name"]}");\n'
    for c in spec.constants:
        if c.c_type == "int" or (c.c_type == "-" and c.value.lstrip("-").isdigit()):
            out += f'CHECK((int){c.name} == {c.value}, "{c.name}");\n'
    return out


def value_checks(spec):
    """Constants that are pointers cannot be compared at compile time; prototypes must be assignable."""
    enums = enumerators(spec)
    out = ""
    for c in spec.constants:
        if c.name in enums or c.c_type == "int" or (c.c_type == "-" and c.value.lstrip("-").isdigit()):
            continue
        out += f"    bad += (intptr_t){c.name} != {number(c, spec)};\n"
    for e in spec.entries:
        for prefix in ("", "P"):
            out += f"    {{ {e.returns} (*f)({e.arguments}) = {prefix}{e.name}; bad += f == NULL; }}\n"
    return out


def layout_probe(spec):
    return LAYOUT.format(license=LICENSE.replace("\n", "\n * "), checks=layout_checks(spec), values=value_checks(spec))


def harmless(param, entry):
    """A null or zero argument of the parameter's type."""
    before, after = param.c_type(entry.wide)
    if after or before.endswith("*") or param.form == "function":
        return "NULL"
    if param.form == "handle":
        return f"MPI_{param.kind.detail.upper()}_NULL"
    return f"({before})0"


def missing_probe(spec):
    missing = [e for e in spec.entries if not e.function.implemented]
    calls = ""
    for e in missing:
        arguments = ", ".join(harmless(p, e) for p in e.params)
        calls += f'    expect("{e.name}", {e.name}({arguments}), MPI_ERR_UNSUPPORTED_OPERATION);\n'
    return MISSING.format(license=LICENSE.replace("\n", "\n * "), calls=calls, count=len(missing))
