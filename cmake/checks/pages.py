#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Consistency of pages: links and anchors resolve, each page under docs is in an index, each picture is on a page, no section
is empty, each folder with sources is described.

A folder is described by its README.md (at most 60 lines) or, if it has no subfolders, by the README.md of the folder
above, which names it as `folder/`. Either names each source file in it: with its suffix or that of its header; by its
stem in backquotes, in a table's column of files or as "· stem: description"; or by a pattern. Unit tests are next to the
tested files and need not be named."""
import fnmatch
import re
import sys

import markdown
from common import ROOT, Findings, own_files, relative

SOURCE = (".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".in", ".tsv", ".toml", ".f90", ".f", ".inc", ".h.in")
NEEDS_NO_README = {".", ".ci", "include", "docs"}
README_LIMIT = 60
INDEXES = ("docs/README.md", "docs/guide/README.md")


def check_links(findings, path, text, pages):
    for number, target in markdown.links(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        if not place.exists():
            findings.error(path, number, f"the link to {target} does not resolve")
        elif anchor and anchor not in set(markdown.anchors(pages.get(place, ""))):
            findings.error(path, number, f"{name or 'this page'} has no heading #{anchor}")


def check_sections(findings, path, text):
    """A heading is followed by text, code or a deeper heading."""
    open_heading = None
    everything = [(n, line, fenced) for n, line, fenced in markdown.lines(text) if line.strip()]
    for number, line, fenced in everything + [(0, "# end", False)]:
        if not fenced and re.fullmatch(r"#+\s*", line):
            findings.error(path, number, "a heading without text")
        if not fenced and markdown.HEADING.match(line):
            depth = len(line) - len(line.lstrip("#"))
            if open_heading and depth <= open_heading[1]:
                findings.error(path, open_heading[0], "this section is empty")
            open_heading = (number, depth)
        else:
            open_heading = None


def linked_from(pages, names):
    """Files that pages with these names link to."""
    found = set()
    for page, text in pages.items():
        if names is None or relative(page) in names:
            found |= {(page.parent / target.partition("#")[0]).resolve() for _, target in markdown.links(text)}
    return found


def check_indexes(findings, files, pages):
    indexed, linked = linked_from(pages, INDEXES), linked_from(pages, None)
    for path in files:
        name = relative(path)
        if not name.startswith("docs/") or name in INDEXES:
            continue
        if path.suffix == ".md" and path not in indexed:
            findings.error(path, 1, "this page is in no index: add it to " + INDEXES[0])
        if path.suffix == ".svg" and path not in linked:
            findings.error(path, 1, "no page shows this picture")


def described(name, text):
    """Whether this README names the file, or need not."""
    stem = re.escape(name.split(".")[0])
    if stem.endswith("_test") or stem == "__init__":
        return True
    columns = "\n".join(re.findall(r"^\|(.*)\|[^|]*\|$", text, re.M))  # all columns of tables but the last, which describes a file
    word = rf"(?<![\w-]){stem}"
    if re.search(rf"{word}\.\w|`(\w+/)*{stem}`|· {stem}:", text) or re.search(rf"{word}(?![\w-])", columns):
        return True
    patterns = re.findall(r"[\w.*/]*\*[\w.*/]*", re.sub(r"<\w+>", "*", text))
    return any(fnmatch.fnmatch(name, p.rsplit("/", 1)[-1]) for p in patterns if p.strip("*./"))


def readme_of(folder, inner, pages):
    """The README.md that describes this folder, and its text; None if there is none."""
    own = folder / "README.md"
    if own in pages:
        return own
    above = folder.parent / "README.md"
    named = above in pages and re.search(rf"(?<![\w/]){re.escape(folder.name)}/", pages[above])
    return above if named and folder not in inner else None


def check_readmes(findings, files, pages):
    holders = {p.parent for p in files if p.name.endswith(SOURCE)}
    inner = {above for folder in holders for above in folder.parents if above.is_relative_to(ROOT)}
    for folder in sorted(holders | inner):
        if relative(folder) in NEEDS_NO_README or relative(folder).startswith("docs/"):
            continue
        readme = readme_of(folder, inner, pages)
        if readme is None:
            findings.error(folder, 1, "no README.md here" +
                           ("" if folder in inner else ", and none above that names this folder"))
            continue
        if readme.parent == folder and folder in holders and pages[readme].count("\n") > README_LIMIT:
            findings.error(readme, 1, f"longer than {README_LIMIT} lines")
        for path in files:
            if path.parent == folder and path.name.endswith(SOURCE) and not described(path.name, pages[readme]):
                findings.error(path, 1, f"{relative(readme)} does not name this file")


def main():
    findings = Findings("pages")
    files = own_files()
    pages = {p: p.read_text(encoding="utf-8") for p in files if p.suffix == ".md"}
    for path, text in pages.items():
        check_links(findings, path, text, pages)
        check_sections(findings, path, text)
    check_indexes(findings, files, pages)
    check_readmes(findings, files, pages)
    findings.finish(f"{len(pages)} pages")


if __name__ == "__main__":
    sys.exit(main())
