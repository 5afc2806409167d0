#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Length limits: a file of 400 lines, a function of 80 lines. Generated files are exempt: those in build/, and
include/mpi.h, mpif.h."""
import ast
import re
import sys

from common import Findings, own_files, relative

FILE_LIMIT, FUNCTION_LIMIT = 400, 80
EXEMPT = {"include/mpi.h", "include/mpif.h"}
CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def blank_noise(text):
    """Blanks comments, strings and macro bodies; keeps line breaks."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text)
    text = NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M)


def cpp_functions(text):
    """(first line, last line) of each function body that is not inside another one."""
    text = blank_noise(text)
    stack, head_start, line = [], 0, 1
    for position, c in enumerate(text):
        if c == "\n":
            line += 1
        elif c == "{":
            head = text[head_start:position]
            outside = all(kind == "container" for kind, _ in stack)
            is_container = CONTAINER.search(head.rsplit(")", 1)[-1]) and not ("(" in head and "=" in head)
            kind = "container" if is_container else "function" if outside and "(" in head else "other"
            stack.append((kind, line))
            head_start = position + 1
        elif c == "}" and stack:
            kind, first = stack.pop()
            if kind == "function":
                yield first, line
            head_start = position + 1
        elif c == ";":
            head_start = position + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def self_test():
    sample = "namespace a {\nint f(int x) {\n    if (x) {\n        g('{');\n    }\n}\nstruct S {\n    void m() const\n    {\n    }\n};\n}\n"
    assert list(cpp_functions(sample)) == [(2, 6), (9, 10)], list(cpp_functions(sample))
    assert list(cpp_functions("constexpr int t[] = {\n1,\n2};\n")) == []


def main():
    self_test()
    findings = Findings("length")
    files = [p for p in own_files(".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake") if relative(p) not in EXEMPT]
    for path in files:
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > FILE_LIMIT:
            findings.error(path, 1, f"{lines} lines, the limit is {FILE_LIMIT}: split it by purpose")
        reader = python_functions if path.suffix == ".py" else cpp_functions
        for first, last in reader(text) if path.suffix not in (".sh", ".cmake") else ():
            if last - first + 1 > FUNCTION_LIMIT:
                findings.error(path, first, f"function of {last - first + 1} lines, the limit is {FUNCTION_LIMIT}")
    findings.finish(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
