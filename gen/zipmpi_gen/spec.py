# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reads spec/ into plain objects, the only input of the other modules of this package."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

DIRECTIONS = {"in", "out", "inout"}
PLAIN_MARKS = {
    "const", "async", "root-only", "large-only",  # from the tables of the standard
    "by-address",  # an input that C passes as a pointer
    "peer", "wild", "root", "in-place", "automatic", "unless-no-op", "optional", "required", "unchecked", "raw",
    "address-only", "host-only", "own-part",
    "raises", "special",  # used by the ABI binding
    "one-based", "stripped",  # used by the Fortran bindings
}
VALUED_MARKS = {"fn", "as", "used", "parts", "bytes"}
FUNCTION_KEYS = {"large", "returns", "target", "custom", "anytime", "lock", "record", "errors", "deprecated",
                 "fortran", "params", "pass_large", "fast_path", "form", "trace"}
CALL_FORMS = {"blocking", "nonblocking", "persistent"}
TRACE_ROLES = {"begin", "end", "abort", "start", "persistent", "no message"}
# C types that are pointers: the direction does not add another.
POINTER_FORMS = {"buffer", "address", "pointer", "status", "string", "function"}


class SpecError(Exception):
    """Invalid table entry; the text has the location."""


@dataclass(frozen=True)
class Kind:
    name: str
    narrow: str
    wide: str
    form: str  # "count", "handle", "enum", ...
    detail: str  # "Comm" of handle:Comm
    check: str
    special: str = None  # set of special values (core_names.toml)


@dataclass(frozen=True)
class Param:
    direction: str
    kind: Kind
    name: str
    length: str  # text in the brackets, None if it is not an array
    marks: frozenset
    values: dict  # marks with a value

    @property
    def form(self):
        return self.kind.form

    @property
    def is_array(self):
        return self.length is not None

    def c_type(self, wide):
        """(text before the name, text after the name)"""
        if "as" in self.values:
            return split_suffix(self.values["as"].replace("*", " *", 1))
        text = self.kind.wide if wide else self.kind.narrow
        text = text.replace("<fn>", self.values.get("fn", ""))
        text, suffix = split_suffix(text)
        if not suffix and self.form not in POINTER_FORMS and self.form != "none":
            if self.is_array:
                suffix = "[]" + "".join(f"[{n}]" for n in self.length.split(",")[1:])
            elif self.direction != "in" or "by-address" in self.marks:
                text += " *"
        return ("const " if "const" in self.marks else "") + text, suffix

    def declaration(self, wide):
        before, after = self.c_type(wide)
        if before == "...":
            return before
        return f"{before}{'' if before.endswith('*') else ' '}{self.name}{after}"


@dataclass(frozen=True)
class Function:
    name: str
    chapter: "Chapter"
    params: tuple
    large: bool = False
    returns: str = None  # None: an error code
    target: str = None
    custom: str = None
    anytime: bool = False
    lock: bool = True
    record: bool = True
    errors: str = "handler"
    deprecated: str = None
    fortran: str = None
    pass_large: bool = False  # pass the target which of the two forms was called
    fast_path: str = None  # binding function that executes the common case before any check
    form: str = None  # call form of a collective, which its target gets as first argument
    trace: str = None  # what the parameters do not tell the interposition library

    @property
    def implemented(self):
        return self.target is not None or self.custom is not None


@dataclass(frozen=True)
class Entry:
    """One C function: a Function or its large-count form."""
    function: Function
    wide: bool
    id: int = 0

    @property
    def name(self):
        return self.function.name + ("_c" if self.wide else "")

    @property
    def params(self):
        return [p for p in self.function.params if self.wide or "large-only" not in p.marks]

    @property
    def returns(self):
        return self.function.returns or "int"

    @property
    def arguments(self):
        return ", ".join(p.declaration(self.wide) for p in self.params) or "void"


@dataclass(frozen=True)
class Chapter:
    key: str
    number: int
    title: str
    api: str = None  # header of the targets in src/core/api


@dataclass(frozen=True)
class Constant:
    name: str
    c_type: str  # "-" for a plain macro
    value: str


@dataclass(frozen=True)
class HandleObject:
    """A variable whose address is a predefined handle."""
    name: str
    size: int
    constant: str  # whose code in the standard ABI is the first word


@dataclass(frozen=True)
class Abi:
    """What one ABI defines."""
    name: str
    constants: list
    typedefs: list  # lines of types.tsv
    layout: dict
    objects: list = ()
    aliases: dict = field(default_factory=dict)  # name: function with equal arguments
    fortran_handles: list = ()  # (constant, number) of handles that are addresses
    symbols: list = ()  # further exported names
    fortran_symbols: list = ()  # and those of the Fortran library


@dataclass
class Spec:
    kinds: dict
    chapters: list
    functions: list
    entries: list
    callbacks: list
    constants: list
    typedefs: list  # lines of types.tsv
    layout: dict
    core_names: dict
    by_name: dict = field(default_factory=dict)
    abi: Abi = None
    standard: Abi = None  # the ABI whose values are those of core

    def entries_of(self, chapter):
        return [e for e in self.entries if e.function.chapter == chapter]

    def handle_codes(self):
        """{constant: number that identifies a predefined handle}. If handles are addresses, it is the first word of the
        object: the code of the standard ABI, or a number of its own."""
        if not self.abi.objects:
            return {c.name: c.value for c in self.abi.constants}
        own = {name: hex(code) for name, code in self.abi.layout.get("codes", {}).items()}
        return {c.name: c.value for c in self.standard.constants} | own

    def constants_of(self, c_type):
        return [c for c in self.constants if c.c_type == c_type]

    @property
    def is_standard(self):
        return self.abi is self.standard

    def aliases_of(self, entry):
        return [alias for alias, name in self.abi.aliases.items() if name == entry.name]

    def differs(self, names):
        """Whether constants with these names have other values than in the standard ABI."""
        own, standard = ({c.name: c.value for c in abi.constants} for abi in (self.abi, self.standard))
        return any(int(own[name], 0) != int(standard[name], 0) for name in names)


def split_suffix(text):
    match = re.fullmatch(r"(.*?)((?:\[\d*\])*)", text)
    return match[1], match[2]


def read_rows(path):
    lines = path.read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def load_kinds(path):
    kinds = {}
    for row in read_rows(path):
        name, narrow, wide, form, check, *special = row.split("\t")
        form, _, detail = form.partition(":")
        kinds[name] = Kind(name, narrow, narrow if wide == "-" else wide, form, detail, check, *special)
    return kinds


def parse_param(line, kinds, where):
    fields = line.split()
    if len(fields) < 3 or fields[0] not in DIRECTIONS:
        raise SpecError(f"{where}: '{line}' is not 'direction KIND name marks'")
    if fields[1] not in kinds:
        raise SpecError(f"{where}: kind {fields[1]} is not in abi/kinds.tsv")
    name = re.fullmatch(r"(\w+)(?:\[(.*)\])?", fields[2])
    if name is None:
        raise SpecError(f"{where}: '{fields[2]}' is not a name")
    marks, values = set(), {}
    for mark in fields[3:]:
        key, equals, value = mark.partition("=")
        if mark in PLAIN_MARKS:
            marks.add(mark)
        elif equals and key in VALUED_MARKS:
            values[key] = value
        else:
            raise SpecError(f"{where}: mark '{mark}' is unknown")
    return Param(fields[0], kinds[fields[1]], name[1], name[2], frozenset(marks), values)


def parse_function(name, row, chapter, kinds):
    unknown = set(row) - FUNCTION_KEYS
    if unknown:
        raise SpecError(f"{name}: unknown keys {', '.join(sorted(unknown))}")
    lines = [line for line in row.get("params", "").splitlines() if line.strip()]
    params = tuple(parse_param(line, kinds, name) for line in lines)
    settings = {key: value for key, value in row.items() if key != "params"}
    function = Function(name, chapter, params, **settings)
    if function.target and function.custom:
        raise SpecError(f"{name}: has both target and custom")
    if function.target and not chapter.api:
        raise SpecError(f"{name}: has a target, but chapter {chapter.key} has no api")
    check_form(function)
    if function.trace not in TRACE_ROLES | {None}:
        raise SpecError(f"{name}: trace '{function.trace}' is unknown")
    return function


def check_form(function):
    """The form is that of a core function; all forms except blocking have one request."""
    if function.form is None:
        return
    if function.form not in CALL_FORMS or not function.target:
        raise SpecError(f"{function.name}: form '{function.form}' is unknown, or has no target")
    requests = [p for p in function.params if p.kind.detail == "Request" and p.direction == "out" and not p.is_array]
    if len(requests) != (function.form != "blocking"):
        raise SpecError(f"{function.name}: form {function.form} does not fit its {len(requests)} requests")


def load_chapter(path, kinds):
    table = tomllib.loads(path.read_text())
    chapter = Chapter(table.pop("chapter"), table.pop("number"), table.pop("title"), table.pop("api", None))
    return chapter, [parse_function(name, row, chapter, kinds) for name, row in table.items()]


def number_entries(functions):
    """Ids follow the sorted names, so that they do not depend on the order of the tables; 0 means none."""
    entries = [Entry(f, False) for f in functions] + [Entry(f, True) for f in functions if f.large]
    entries.sort(key=lambda e: e.name)
    return [Entry(e.function, e.wide, i) for i, e in enumerate(entries, 1)]


def load_callbacks(path, kinds):
    chapter = Chapter("callbacks", 0, "user callbacks")
    table = tomllib.loads(path.read_text())
    return number_entries([parse_function(name, row, chapter, kinds) for name, row in table.items()])


def read_table(path):
    return [row.split("\t") for row in read_rows(path)] if path.exists() else []


def load_abi(folder, standard=None):
    """An ABI other than the standard one lists only the types and parts of the layout that differ."""
    constants = [Constant(*row) for row in read_table(folder / "constants.tsv")]
    types = read_rows(folder / "types.tsv") if standard is None or (folder / "types.tsv").exists() else []
    layout = tomllib.loads((folder / "layout.toml").read_text())
    if standard is not None:
        own = {row.split()[-1]: row for row in types}
        types = [own.get(row.split()[-1], row) for row in standard.typedefs]
        layout = standard.layout | layout
    return Abi(folder.name, constants, types, layout,
               [HandleObject(name, int(size), constant) for name, size, constant in read_table(folder / "objects.tsv")],
               dict(read_table(folder / "aliases.tsv")), read_table(folder / "fortran_handles.tsv"),
               [row[0] for row in read_table(folder / "symbols.tsv")],
               [row[0] for row in read_table(folder / "fortran_symbols.tsv")])


def load(folder, binding="standard"):
    folder = Path(folder)
    kinds = load_kinds(folder / "abi/kinds.tsv")
    chapters, functions = [], []
    for path in sorted((folder / "functions").glob("*.toml")):
        chapter, rows = load_chapter(path, kinds)
        chapters.append(chapter)
        functions += rows
    entries = number_entries(functions)
    by_name = {e.name: e for e in entries}
    if len(by_name) != len(entries):
        raise SpecError("a function is listed twice")
    standard = load_abi(folder / "abi/standard")
    abi = standard if binding == "standard" else load_abi(folder / "abi" / binding, standard)
    for alias, name in abi.aliases.items():
        if name not in by_name:
            raise SpecError(f"{alias}: {name} is not in the tables")
    return Spec(
        kinds, chapters, functions, entries, load_callbacks(folder / "callbacks.toml", kinds),
        abi.constants, abi.typedefs, abi.layout,
        tomllib.loads((folder / "abi/core_names.toml").read_text()),
        by_name, abi, standard)
