# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""The report as a page: self-contained, and rendered by a browser if there is one."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from html.parser import HTMLParser

from harness import html, report
from harness.plots import chart

from .test_output import comparison

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
import installed  # noqa: E402

ZIPMPI = (0xd5, 0x5e, 0x00)  # the color of ZipMPI's line


def write_page(folder, made):
    chart.draw_all(report.as_json(made), folder)
    path = os.path.join(folder, "report.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(html.page(made, folder))
    return path


def pixels(path):
    """Rows of (r, g, b) of a PNG with 8 bits and no interlacing, as browsers write them."""
    with open(path, "rb") as file:
        data = file.read()
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, step = zlib.decompress(packed), 4 if kind == 6 else 3
    before, rows = bytearray(width * step), []
    for y in range(height):
        line = bytearray(raw[y * (width * step + 1) + 1:(y + 1) * (width * step + 1)])
        method = raw[y * (width * step + 1)]
        for x in range(len(line)):
            a = line[x - step] if x >= step else 0
            b, c = before[x], before[x - step] if x >= step else 0
            if method == 1:
                line[x] = (line[x] + a) & 255
            elif method == 2:
                line[x] = (line[x] + b) & 255
            elif method == 3:
                line[x] = (line[x] + (a + b) // 2) & 255
            elif method == 4:
                p = a + b - c
                line[x] = (line[x] + min((a, b, c), key=lambda v: abs(p - v))) & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, len(line), step)])
        before = line
    return rows


class Pages(unittest.TestCase):
    def test_page_is_self_contained(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(write_page(folder, comparison()), encoding="utf-8") as file:
                text = file.read()
        HTMLParser().feed(text)
        self.assertIsNone(re.search(r'(src|href)="', text), "the page must be self-contained")
        self.assertEqual(text.count("<table>"), text.count("</table>"))
        for part in ('<figure id="latency"><svg', "Half round trip", "1 Ki", "Open MPI", '<td class="number">', "open"):
            self.assertIn(part, text)

    def test_browser_renders_it(self):
        browser = installed.needed(*installed.BROWSERS)
        with tempfile.TemporaryDirectory() as folder:
            path, picture = write_page(folder, comparison()), os.path.join(folder, "page.png")
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=600,900",
                       f"--user-data-dir={folder}/profile", f"--screenshot={picture}", "file://" + path]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            rows = pixels(picture)
            if os.environ.get("KEEP_PICTURE"):
                shutil.copy(picture, os.environ["KEEP_PICTURE"])
        zipmpi = sum(max(abs(a - b) for a, b in zip(p, ZIPMPI)) < 12 for row in rows for p in row)
        dark = sum(sum(p) < 300 for row in rows for p in row)
        self.assertGreater(zipmpi, 100, "ZipMPI's line is not drawn")
        self.assertGreater(dark, 2000, "there is no text")


if __name__ == "__main__":
    unittest.main()
