# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes calls with one invalid argument each and the expected error classes. Valid and invalid arguments of a parameter
follow from its kind and marks. tests/abi/invalid_args.c defines the objects named here and runs the calls."""

from typing import NamedTuple

from .convert import Context
from .text import cpp_head

CLASS_OF_HANDLE = {"Message": "MPI_ERR_REQUEST", "Datatype": "MPI_ERR_TYPE"}  # others: MPI_ERR_ and their name
RIGHT_OF_KIND = {"ORDER": "MPI_ORDER_C"}  # where 1 is not valid
KINDS_WITHOUT_OBJECTS = {"Win", "File"}  # no objects of these kinds in invalid_args.c


class Wrong(NamedTuple):
    """One invalid argument: C expression, expected error class, description, required objects."""
    value: str
    error: str
    text: str
    needs: tuple = ()


def object_name(state, param):
    return f"{state}_{param.kind.detail.lower()}"


def good_object(entry, param):
    """Topology functions get a communicator with a topology."""
    in_grid = param.kind.detail == "Comm" and entry.function.chapter.key == "topo"
    return "cart_comm" if in_grid else object_name("good", param)


def null_of(param):
    return f"MPI_{param.kind.detail.upper()}_NULL"


def is_wide(param, entry):
    return param.c_type(entry.wide)[0].split()[-1] != "int"


def takes_pointer(param):
    return param.direction != "in" or "by-address" in param.marks


class Call:
    """An entry point with an argument for each parameter."""

    def __init__(self, spec, entry):
        self.spec, self.entry, self.context = spec, entry, Context(entry)

    # ---- valid arguments

    def right_handle(self, param):
        if param.is_array:
            return f"(void *){object_name('good', param)}s" if param.direction != "out" else "(void *)scratch"
        if param.direction == "out":
            return f"&{object_name('made', param)}"
        return ("&" if takes_pointer(param) else "") + good_object(self.entry, param)

    def right_buffer(self, param):
        buffers = [p for p in self.entry.params if p.form == "buffer"]
        return "data" if param is buffers[0] else "more_data"

    def right_number(self, param, value="1"):
        if param.is_array:
            return f"(void *){'wide' if is_wide(param, self.entry) else 'narrow'}_{'ones' if value == '1' else 'zeros'}"
        return "(void *)scratch" if takes_pointer(param) else value

    def right(self, param):
        if param.form == "handle":
            return self.right_handle(param)
        if param.kind.name in RIGHT_OF_KIND and not takes_pointer(param):
            return RIGHT_OF_KIND[param.kind.name]
        if param.form in ("count", "length", "int", "tag"):
            return self.right_number(param)
        if param.form in ("rank", "logical"):
            return self.right_number(param, "0")
        if param.form == "enum" and param.direction == "in":
            return next(iter(self.spec.core_names[param.kind.detail].values()))
        if param.form == "status":
            in_use = param.direction == "in" or "raw" in param.marks
            return "&good_status" if in_use else "MPI_STATUSES_IGNORE" if param.is_array else "MPI_STATUS_IGNORE"
        if param.form == "buffer":
            return self.right_buffer(param)
        if param.form == "string" and param.direction == "in":
            return '"text"'
        if param.form == "string length" and param.direction == "inout":
            return "&text_length"
        if param.form == "function":
            return f"({param.c_type(self.entry.wide)[0]})harmless"
        before, after = param.c_type(self.entry.wide)
        return "(void *)scratch" if before.endswith("*") or after else f"({before})0"

    # ---- invalid arguments

    def null_pointer(self):
        return [Wrong("NULL", "MPI_ERR_ARG", "is a null pointer")]

    def may_be_null(self, param):
        """MPI_INFO_NULL is valid for hints, but not for functions on info objects."""
        return "optional" in param.marks or (param.kind.detail == "Info" and self.entry.function.chapter.key != "info")

    def wrong_handle(self, param):
        if param.is_array:
            return self.wrong_elements(param)
        pointer = self.null_pointer() if takes_pointer(param) else []
        if param.direction == "out":
            return pointer
        detail = param.kind.detail
        error = CLASS_OF_HANDLE.get(detail, f"MPI_ERR_{detail.upper()}")
        other = "MPI_INT" if detail == "Op" else "MPI_SUM"
        values = [Wrong(f"(MPI_{detail}){other}", error, "is a handle of another class"),
                  Wrong(object_name("freed", param), error, "was freed", (object_name("freed", param),))]
        if not self.may_be_null(param):
            values.append(Wrong(null_of(param), error, "is the null handle"))
        if detail == "Datatype" and self.context.buffer_before(param) is not None:
            values.append(Wrong("raw_datatype", error, "was not committed", ("raw_datatype",)))
        if detail == "Op" and self.context.first("handle", "Datatype") is not None:
            values.append(Wrong("MPI_MAXLOC", error, "is not defined for the datatype"))
        if takes_pointer(param):
            values = [Wrong(f"in_variable_{detail.lower()}({w.value})", *w[1:]) for w in values]
        return pointer + values

    def wrong_elements(self, param):
        if param.direction == "out":
            return []
        detail = param.kind.detail
        error = CLASS_OF_HANDLE.get(detail, f"MPI_ERR_{detail.upper()}")
        bad = [(f"(MPI_{detail})MPI_SUM", "holds a handle of another class", ()),
               (object_name("freed", param), "holds a handle that was freed", (object_name("freed", param),))]
        if detail != "Request":
            bad.append((null_of(param), "holds the null handle", ()))
        values = [Wrong(f"in_variable_{detail.lower()}({value})", error, text, needs) for value, text, needs in bad]
        return values + (self.null_pointer() if detail == "Request" else [])

    def wrong_count(self, param):
        if takes_pointer(param):
            return self.null_pointer()
        if param.is_array:
            width = "wide" if is_wide(param, self.entry) else "narrow"
            error = "MPI_ERR_ARG" if param.length == "ndims" else "MPI_ERR_COUNT"  # a shape is not a count
            negative = [Wrong(f"(void *){width}_minus_ones", error, "holds -1")]
            return (self.null_pointer() if param.form == "count" else []) + (
                negative if param.kind.check in ("nonnegative", "positive") else [])
        values = {"nonnegative": ["-1"], "positive": ["-1", "0"]}.get(param.kind.check, [])
        if values and is_wide(param, self.entry):
            values = values + ["-5000000000"]
        return [Wrong(value, "MPI_ERR_COUNT", f"is {value}") for value in values]

    def wrong_int(self, param):
        return self.null_pointer() if param.direction != "in" else []

    def wrong_rank(self, param):
        if param.direction != "in":
            return self.null_pointer()
        if param.is_array or "unchecked" in param.marks or self.context.comm is None:
            return []
        error = "MPI_ERR_ROOT" if "root" in param.marks else "MPI_ERR_RANK"
        values = ["1", "-77", "2147483647"]
        if "wild" not in param.marks:
            values.append("MPI_ANY_SOURCE")
        if not {"peer", "wild"} & param.marks:
            values.append("MPI_PROC_NULL")
        return [Wrong(value, error, f"is {value}") for value in values]

    def wrong_tag(self, param):
        if param.direction != "in":
            return self.null_pointer()
        values = [] if "unchecked" in param.marks else ["-77"] + ([] if "wild" in param.marks else ["MPI_ANY_TAG"])
        return [Wrong(value, "MPI_ERR_TAG", f"is {value}") for value in values]

    def wrong_enum(self, param):
        if param.direction != "in":
            return self.null_pointer()
        return [Wrong("12345", "MPI_ERR_ARG", "is 12345")] if param.kind.check == "listed" else []

    def wrong_status(self, param):
        return self.null_pointer() if param.direction == "in" or "raw" in param.marks else []

    def wrong_buffer(self, param):
        number = self.context.after(param, lambda p: p.form == "count" and not p.is_array)
        datatype = self.context.after(param, lambda p: p.kind.detail == "Datatype" and not p.is_array)
        if number is None or datatype is None:
            return []
        values = [Wrong("NULL", "MPI_ERR_BUFFER", "is a null pointer with elements")]
        if "in-place" not in param.marks:
            values.append(Wrong("MPI_IN_PLACE", "MPI_ERR_BUFFER", "is MPI_IN_PLACE"))
        return values

    def wrong_checked_pointer(self, param):
        return self.null_pointer() if param.kind.check == "not null" and "optional" not in param.marks else []

    def wrong(self, param):
        if "raw" in param.marks and param.is_array and param.form in ("handle", "int"):
            return []  # passed unchanged: null may mean that the result is not needed
        forms = {"handle": self.wrong_handle, "count": self.wrong_count, "length": self.wrong_count, "int": self.wrong_int,
                 "rank": self.wrong_rank, "tag": self.wrong_tag, "logical": self.wrong_int, "enum": self.wrong_enum,
                 "status": self.wrong_status, "buffer": self.wrong_buffer}
        return forms.get(param.form, self.wrong_checked_pointer)(param)

    # ---- calls

    def needs(self, wrong):
        used = [good_object(self.entry, p) for p in self.entry.params
                if p.form == "handle" and p.direction != "out" and not self.may_be_null(p)]
        return " && ".join(f"have(&{name}, sizeof {name})" for name in sorted({*used, *wrong.needs})) or "1"

    def line(self, param, wrong):
        arguments = ", ".join(wrong.value if p is param else self.right(p) for p in self.entry.params)
        return (f'    if ({self.needs(wrong)} && begin_case("{self.entry.name}", "{param.name} {wrong.text}"))\n'
                f"        end_case({self.entry.name}({arguments}), {wrong.error});\n")

    def lines(self):
        return "".join(self.line(p, wrong) for p in self.entry.params for wrong in self.wrong(p))


def can_be_called(entry):
    function = entry.function
    return (function.implemented and not function.returns and function.errors == "handler"
            and not any(p.form == "none" or p.kind.detail in KINDS_WITHOUT_OBJECTS for p in entry.params))


def invalid_args(spec):
    body, names = "", []
    for entry in filter(can_be_called, spec.entries):
        lines = Call(spec, entry).lines()
        if lines:
            names.append(f"wrong_{entry.id}")
            body += f"\nstatic void wrong_{entry.id}(void) {{\n{lines}}}\n"
    calls = "".join(f"    {name}();\n" for name in names)
    head = cpp_head("Calls with one invalid argument each; included by tests/abi/invalid_args.c.")
    return f"{head}{body}\nstatic void all_invalid_args(void) {{\n{calls}}}\n"
