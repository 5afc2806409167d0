#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""No two files of src define a type of one qualified name: the linker would silently use either one for both (one-definition
rule). Types in anonymous namespaces and in functions belong to their file."""
import re
import sys
from collections import defaultdict

from common import Findings, own_files, relative

COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
NAMESPACE = re.compile(r"\b(?:inline\s+)?namespace\b(?P<name>[\w\s:]*)$")
TYPE = re.compile(r"(?:^|[;{}>\s])(?:struct|class|union|enum(?:\s+(?:class|struct))?)\b(?:\s*\[\[[^\]]*\]\]|\s*alignas\s*\([^()]*(?:\([^()]*\))?[^()]*\))*"
                  r"\s+(?P<name>\w+(?:::\w+)*)\s*(?:final\s*)?(?::[^;{}=]*)?$")
LOCAL = None  # its contents have no name outside the file


def blank(match):
    """Keeps line numbers; digit separators are not quotes."""
    return re.sub(r"[^\n]", " ", match[0])


def scope_of(head):
    """Scope opened by a brace after this text: names to add, and whether it defines a type."""
    namespace = NAMESPACE.search(head)
    if namespace:
        name = namespace["name"].strip()
        return (name.split("::") if name else LOCAL), False
    kind = TYPE.search(head)
    if kind:
        return kind["name"].split("::"), True
    return LOCAL, False


def definitions(text):
    """Yields (line, qualified name) of each type with a name outside the file."""
    text = re.sub(r"(?<=[0-9A-Fa-f])'(?=[0-9A-Fa-f])", " ", text)
    text = DIRECTIVE.sub(blank, COMMENTS.sub(blank, text))
    scopes, begin = [], 0
    for match in re.finditer(r"[{};]", text):
        head = text[begin:match.start()].strip()
        begin = match.end()
        if match[0] == "{":
            names, is_type = scope_of(head)
            if head.startswith('extern') and not is_type:
                names = []
            scopes.append(names)
            if is_type and LOCAL not in scopes and not head.startswith("template <>"):
                yield text.count("\n", 0, match.start()) + 1, "::".join(n for s in scopes for n in s)
        elif match[0] == "}" and scopes:
            scopes.pop()


def self_test():
    def names(text):
        return [name for _, name in definitions(text)]

    assert names("namespace a::b {\nstruct C { enum class D : int { x }; };\nstruct E;\n}") == ["a::b::C", "a::b::C::D"]
    assert names("namespace a {\nnamespace {\nstruct C {};\n}\nvoid f() { struct L {}; }\nclass [[nodiscard]] G final : H<1'000> {};\n}") == ["a::G"]
    assert names('// struct X {\nconst char* s = "struct Y {";\nstruct alignas(64) Z { int a = 1; };') == ["Z"]
    assert names("struct S f() {}\nstruct T t{1};\ntemplate <> struct U<int> {};\ntemplate <class X> struct V {};") == ["V"]


def main():
    self_test()
    findings = Findings("one definition")
    where = defaultdict(list)
    files = [p for p in own_files(".hpp", ".cpp") if relative(p).startswith("src/") and not p.name.endswith("_test.cpp")]
    for path in files:
        for line, name in definitions(path.read_text(encoding="utf-8")):
            where[name].append((path, line))
    for name, places in sorted(where.items()):
        for path, line in places[1:]:
            if path != places[0][0]:
                findings.error(path, line, f"{name} is also defined in {relative(places[0][0])}:{places[0][1]}; rename one of them")
    findings.finish(f"{len(where)} types in {len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
