# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parses pages: lines of text and of code, inline code, headings, links."""
import re

LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
HEADING = re.compile(r"#{1,6}\s+(?P<text>.*)")


def lines(text):
    """(number, line, whether in a fenced block) of each line except the fences."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        else:
            yield number, line, fenced


def links(text):
    """(number, target) of each link and picture outside code."""
    for number, line, fenced in lines(text):
        if not fenced:
            for match in LINK.finditer(SPAN.sub("", line)):
                yield number, match["target"]


def code(text):
    """(number, code) of each line of a fenced block and of each inline code."""
    for number, line, fenced in lines(text):
        yield from ((number, piece) for piece in ([line] if fenced else SPAN.findall(line)))


def anchors(text):
    """Valid anchors of this page, as GitHub names headings."""
    seen = {}
    for _, line, fenced in lines(text):
        match = HEADING.match(line)
        if match and not fenced:
            plain = LINK.sub(lambda m: m.group()[1:m.group().index("]")], match["text"]).replace("`", "")
            name = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
            count = seen.setdefault(name, 0)
            seen[name] += 1
            yield f"{name}-{count}" if count else name
