# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes manual pages with the man macros."""


def escape(text):
    """Text escaped for troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)


def quoted(text):
    """Text quoted as one macro argument."""
    return '"' + escape(text).replace('"', '\\(dq') + '"'


class Page:
    def __init__(self, name, section, version):
        self.lines = ['.\\" SPDX-FileCopyrightText: 2026 the ZipMPI authors\n.\\" SPDX-License-Identifier: BSD-3-Clause\n'
                      '.\\" Generated: do not edit.\n'
                      f'.TH {quoted(name)} {section} "" {quoted("ZipMPI " + version)} "ZipMPI"\n']

    def raw(self, text):
        self.lines.append(text)

    def section(self, title):
        self.raw(f".SH {quoted(title)}\n")

    def text(self, text, escaped=False):
        text = text if escaped else escape(text)
        self.raw(f".PP\n{'' if text[0] not in '.' else chr(92) + '&'}{text}\n")

    def item(self, head, text, italic=False):
        self.raw(f".TP\n.{'I' if italic else 'B'} {quoted(head)}\n{escape(text)}\n")

    def verbatim(self, text):
        lines = "".join(("\\&" if line[:1] in (".", "'") else "") + escape(line) + "\n" for line in text.splitlines())
        self.raw(f".PP\n.nf\n{lines}.fi\n")

    def finish(self):
        return "".join(self.lines)
