# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Special values among ordinary integers (MPI_ANY_SOURCE, MPI_MODE_CREATE) in ABIs that encode them differently from core.

A kind names the set of its special values (spec/abi/kinds.tsv). An input is converted at the beginning of the entry point,
a result after the call; sets with equal encodings need no code.
"""

FLAGS = {"assertion", "access_mode"}  # sums of constants
WIDE = {"displacement"}
LISTED = {"order", "distribution"}  # no other value is valid

CHOICE = """
inline {type} {name}({type} value) noexcept {{
{early}    switch (value) {{
{cases}    default:
        return {other};
    }}
}}
"""

FLAG_SUM = """
inline int {name}(int value) noexcept {{
    int converted = (value & ~({all})) != 0 ? unknown_flag : 0;
{lines}    return converted;
}}
"""


def sets(spec):
    return spec.core_names["special"]


def differing(spec):
    """The sets for which the ABI needs conversions."""
    if spec is None or spec.is_standard:
        return set()
    return {name for name, names in sets(spec).items() if spec.differs(names.values())} | {"contents"}


def flag_sum(name, pairs):
    every = " | ".join(there for there, _ in pairs)
    lines = "".join(f"    if ((value & {there}) != 0) converted |= {here};\n" for there, here in pairs)
    return FLAG_SUM.format(name=name, all=every, lines=lines)


def choice(name, set_name, pairs, foreign):
    """foreign: values that would be taken for special ones without the conversion."""
    cases = "".join(f"    case {there}:\n        return {here};\n" for there, here in pairs)
    early = "    if (value >= 0) [[likely]]\n        return value;\n" if set_name in ("rank", "tag") else ""
    if set_name in LISTED:
        other = "invalid_special"
    elif foreign:
        other = f"{' || '.join(f'value == {f}' for f in foreign)} ? invalid_special : value"
    else:
        other = "value"
    return CHOICE.format(type="int64_t" if set_name in WIDE else "int", name=name, early=early, cases=cases, other=other)


def conversions(spec):
    """Functions from_abi_<set> and to_abi_<set>."""
    out = ("// A value that is not valid in any set.\ninline constexpr int invalid_special = -2147483647;\n"
           "inline constexpr int unknown_flag = 1 << 30;\n")
    for name, names in sets(spec).items():
        if name not in differing(spec):
            continue
        inward = [(constant, f"core::{own}") for own, constant in names.items()]
        outward = [(own, constant) for constant, own in inward]
        if name in FLAGS:
            out += flag_sum(f"from_abi_{name}", inward) + flag_sum(f"to_abi_{name}", outward)
            continue
        ambiguous = [own for _, own in inward] if name in ("rank", "tag") else []
        out += choice(f"from_abi_{name}", name, inward, ambiguous)
        out += choice(f"to_abi_{name}", name, outward, [])
    return out


def converts(param, spec):
    return param.kind.special in differing(spec)


def stores_status(entry):
    """Accesses the fields of a status, which have the values of the ABI."""
    return any(p.form == "status" and "raw" in p.marks for p in entry.params)


def load_lines(entry, spec):
    """Statements at the beginning of an entry point."""
    lines = []
    if stores_status(entry):
        return lines
    for p in entry.params:
        if p.form == "buffer" and "in-place" in p.marks and spec is not None and spec.differs(["MPI_IN_PLACE"]):
            lines.append(f"{p.name} = from_abi_in_place({p.name});")
        elif p.form == "tag" and "wild" not in p.marks:
            continue  # no special value is valid
        elif converts(p, spec) and p.direction == "in" and not p.is_array:
            lines.append(f"{p.name} = values::from_abi_{p.kind.special}({p.name});")
    return lines


def convert(param, code, context):
    """Adds the conversion of arrays and results to the code of a parameter."""
    spec, set_name = context.spec, param.kind.special
    if not converts(param, spec) or param.direction == "in" and not param.is_array or stores_status(context.entry):
        return code
    if set_name == "contents":
        datatype = context.first("handle", "Datatype")
        if param.direction == "out" and datatype is not None:
            code.store.append(f"if (entry.err == Err::success) convert_contents(*{datatype.name}_, {param.name});")
    elif not param.is_array:
        code.store.append(f"*{param.name} = values::to_abi_{set_name}(*{param.name});")
    elif "special" not in param.marks:
        return code
    elif param.direction == "in":
        own = f"{param.name}_values"
        code.declare.append(f"ConvertedInts {own};")
        code.check.append(f'{own}.load(entry, {param.length}, {param.name}, values::from_abi_{set_name}, "{param.name}")')
        code.pass_on = [f"{own}.data()"]
    else:
        code.store.append(f"convert_each({param.name}, {param.length}, values::to_abi_{set_name});")
    return code
