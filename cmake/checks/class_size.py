#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Size limits of classes in src, launch and gateway: at most 30 functions and 15 data members, nested types not counted.
A record, a type with at most 3 functions, may have 30 members. Functions are counted as declared, constructors included,
defaulted and deleted ones not. Fixtures of unit tests are exempt."""
import re
import sys

from common import Findings, own_files, relative
from length import blank_noise

MAX_FUNCTIONS, MAX_MEMBERS, MAX_FIELDS, RECORD_FUNCTIONS = 30, 15, 30, 3
FOLDERS = ("src/", "launch/", "gateway/")
HEAD = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*(?P<name>[\w:]+)(?:<[^;{]*>)?(?:\s+final)?\s*(?::(?!:)[^;{]*)?\{")
NOT_COUNTED = re.compile(r"(?:using|friend|typedef|static_assert|template\s*<[^>]*>\s*(?:struct|class)|enum|class|struct|union)\b")


def closing(text, opening):
    depth = 0
    for position in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return len(text)


def declarations(body):
    """Declarations of a class body, without function bodies, initializers in braces and nested types."""
    at, current = 0, ""
    while at < len(body):
        if body[at] == "{":
            at = closing(body, at) + 1
            rest = body[at:].lstrip()
            if re.search(r"\b(?:class|struct|enum|union)\b[^()]*$", current):
                # A nested type; a member of it may be declared behind.
                name, _, _ = rest.partition(";")
                current, at = ("nested " + name if name.strip() else ""), at + len(body[at:]) - len(rest) + len(name)
            elif "(" in current and not rest.startswith((";", ",")):
                yield current
                current = ""
        elif body[at] == ";":
            yield current
            current, at = "", at + 1
        else:
            current, at = current + body[at], at + 1


def without_template_arguments(text):
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def sizes(body):
    functions = members = 0
    for declaration in declarations(body):
        text = re.sub(r"\b(?:public|private|protected)\s*:", "", declaration)
        text = re.sub(r"\[\[[^\]]*\]\]|alignas\([^)]*\)", "", text).strip()
        if not text or NOT_COUNTED.match(text) or re.search(r"=\s*(?:default|delete)$", text):
            continue
        head = text if "operator" in text else without_template_arguments(text)
        if "operator" not in head:
            head = re.sub(r"\([^()]*\)", "", head) if "(" not in head.split("=")[0] else head.split("=")[0]
            head = re.sub(r"=[^,]*", "", head)
        if re.search(r"\(\s*\*\s*\w+(?:\[[^\]]*\])?\s*\)\s*\(", head):
            members += 1  # pointer to a function
        elif "(" in head:
            functions += 1
        elif not re.match(r"static\b|inline static\b", head):
            members += 1 + head.count(",")
    return functions, members


def classes(text):
    text = blank_noise(text)
    for match in HEAD.finditer(text):
        opening = match.end() - 1
        functions, members = sizes(text[opening + 1:closing(text, opening)])
        yield match["name"], text.count("\n", 0, match.start()) + 1, functions, members


def problem(functions, members):
    if functions > MAX_FUNCTIONS:
        return f"{functions} functions, the limit is {MAX_FUNCTIONS}: move a responsibility to a component"
    limit = MAX_FIELDS if functions <= RECORD_FUNCTIONS else MAX_MEMBERS
    if members > limit:
        return f"{members} data members, the limit is {limit}: let a component own those that belong together"
    return None


def self_test():
    sample = """class A final : public B<int> {
      public:
        A() = default;
        explicit A(int x) : x_(x) {}
        [[nodiscard]] int f() const { return g({1}); }
        template <class T> void h(const T& t);
        struct Nested { int a; int b; void c(); };
        enum class E { one, two };
        bool operator==(const A&) const;
      private:
        static constexpr int limit = 3;
        int x_ = 0, y_ = 0;
        std::vector<std::pair<int, int>> pairs_{};
        void (*call_)(int) = nullptr;
        struct { int u; } last_;
        int sum_ = f(1, 2);
    };"""
    assert [c for c in classes(sample) if c[0] == "A"] == [("A", 1, 4, 6)], list(classes(sample))
    many = "struct S { " + "void f(); " * 31 + "};"
    assert problem(*next(classes(many))[2:])
    assert problem(4, 16) and not problem(4, 15) and not problem(3, 30) and problem(3, 31)


def main():
    self_test()
    findings = Findings("class_size")
    count = 0
    for path in own_files(".hpp", ".cpp"):
        if not relative(path).startswith(FOLDERS) or path.name.endswith("_test.cpp"):
            continue
        for name, line, functions, members in classes(path.read_text(encoding="utf-8")):
            count += 1
            if text := problem(functions, members):
                findings.error(path, line, f"{name}: {text}")
    findings.finish(f"{count} classes")


if __name__ == "__main__":
    sys.exit(main())
