# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A picture as SVG. Has the methods of png.Canvas."""
from html import escape

ANCHORS = {"left": "start", "middle": "middle", "right": "end"}


class Canvas:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def chain(self, points, color, thick=1.0, dashes=()):
        dash = f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="{thick}" '
                          f'stroke-linejoin="round"{dash}/>')

    def disc(self, x, y, radius, color):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def area(self, points, color, opacity):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{places}" fill="{color}" fill-opacity="{opacity}"/>')

    def text(self, x, y, text, size, color="#222222", align="left", upwards=False):
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upwards else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" '
                          f'text-anchor="{ANCHORS[align]}"{turn}>{escape(text)}</text>')

    def save(self, path):
        width, height = self.size
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                       f'height="{height}" font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n')
            file.write("\n".join(self.parts) + "\n</svg>\n")
