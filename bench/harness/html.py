# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as one self-contained HTML page: the tables of the report with the pictures."""
import html
import os
import re

from . import targets, report
from .plots import panels

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 980px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; margin: .8em 0; font-size: .92em; }
th, td { border-bottom: 1px solid #ddd; padding: .25em .7em; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th { border-bottom: 2px solid #999; }
td.target { white-space: nowrap; }
td.met { color: #00674f; } td.missed { color: #b03a00; font-weight: 600; } td.not { color: #777; }
figure { margin: 1.5em 0; } figure svg { max-width: 100%; height: auto; }
"""


def kind_of(text):
    if text.startswith((targets.OPEN, targets.NO_PAIRS)):
        return ' class="not"'
    for outcome in (targets.MET, targets.MISSED):
        if text == outcome or text.startswith(outcome + " ("):
            return f' class="{outcome}"'
    if re.match(r"^at (most|least) [0-9.]+$", text):
        return ' class="target"'
    return ' class="number"' if re.match(r"^[-+]?[0-9.]+( ±[0-9]+%| \([-0-9.e+]+\)( \?)?)?$|^-$", text) else ""


def table_html(lines):
    rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td{kind_of(cell)}>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows[2:])
    return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"


def body_of(markdown):
    """Converts the parts of a report: headings, tables, paragraphs."""
    parts = []
    for part in markdown.strip().split("\n\n"):
        if part.startswith("### "):
            parts.append(f"<h2>{html.escape(part[4:])}</h2>\n")
        elif part.startswith("|"):
            parts.append(table_html(part.splitlines()))
        else:
            parts.append(f"<p>{html.escape(part).replace('`', '')}</p>\n")
    return parts


def pictures(folder):
    text = ""
    for name in ("latency", "bandwidth", "variants", *(picture.file for picture in panels.PICTURES)):
        path = os.path.join(folder, name + ".svg")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                drawing = re.sub(r"^.*?(?=<svg)", "", file.read(), flags=re.S)
            text += f'<figure id="{name}">{drawing}</figure>\n'
    return text


def page(comparison, folder):
    """folder: the folder of the pictures."""
    parts = body_of(report.Report(comparison, True).whole())
    first_heading = next((i for i, part in enumerate(parts) if part.startswith("<h2>")), len(parts))
    parts.insert(first_heading, pictures(folder))
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>ZipMPI: comparison</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>ZipMPI and other libraries on this machine</h1>\n{''.join(parts)}</body>\n</html>\n")
