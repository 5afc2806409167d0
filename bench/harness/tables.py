# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cells and tables of reports."""

NONE = "-"


def short(value):
    if value is None:
        return NONE
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def ratio_digits(value):
    return f"{value:.2f}" if 0.1 <= value < 10 else f"{value:.2g}" if value < 100 else f"{value:.0f}"


def ratio_text(interval):
    """A ratio with its interval; with ? if there are too few pairs for one."""
    if interval is None:
        return NONE
    text = f"{ratio_digits(interval.middle)} ({ratio_digits(interval.low)}-{ratio_digits(interval.high)})"
    return text if interval.enough else text + " ?"


def text_table(rows, words):
    """The first column is text; the others are numbers, right-aligned, unless all are text."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [text.ljust(width) if words or not column else text.rjust(width)
                 for column, (text, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def markdown_table(rows, words):
    rule = "|" + "|".join(["---"] + ["---" if words else "---:"] * (len(rows[0]) - 1)) + "|"
    lines = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]])
