# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""A picture as PNG, drawn without any other package: antialiased lines, discs and letters made of strokes. Has the methods of
svg.Canvas."""
import math
import struct
import zlib

from . import glyphs

SCALE = 1.5  # pixels per unit of the picture
LETTER_HEIGHT = 0.72  # height of a capital relative to the text size


def rgb(color):
    return tuple(int(color[i:i + 2], 16) for i in (1, 3, 5))


class Canvas:
    def __init__(self, width, height):
        self.width, self.height = round(width * SCALE), round(height * SCALE)
        self.rows = [bytearray(b"\xff" * 3 * self.width) for _ in range(self.height)]

    def blend(self, x, y, color, part):
        if 0 <= x < self.width and 0 <= y < self.height and part > 0:
            row, at = self.rows[y], 3 * x
            for i in range(3):
                row[at + i] += round((color[i] - row[at + i]) * min(part, 1))

    def segment(self, a, b, radius, color):
        """A line in pixel coordinates with round ends: each pixel by its distance from it."""
        (ax, ay), (bx, by) = a, b
        dx, dy = bx - ax, by - ay
        length2 = dx * dx + dy * dy
        reach = radius + 1
        for y in range(math.floor(min(ay, by) - reach), math.ceil(max(ay, by) + reach) + 1):
            low, high = self.columns(a, b, y, reach)
            for x in range(low, high + 1):
                t = max(0, min(1, ((x - ax) * dx + (y - ay) * dy) / length2)) if length2 else 0
                self.blend(x, y, color, radius + 0.5 - math.hypot(x - ax - t * dx, y - ay - t * dy))

    @staticmethod
    def columns(a, b, y, reach):
        """The columns of row y that the line may touch."""
        (ax, ay), (bx, by) = a, b
        low, high = min(ax, bx), max(ax, bx)
        if abs(by - ay) > 1e-9:
            slack = reach * math.hypot(bx - ax, by - ay) / abs(by - ay)
            center = ax + (y - ay) * (bx - ax) / (by - ay)
            low, high = max(low, center - slack), min(high, center + slack)
        return math.floor(low - reach), math.ceil(high + reach)

    def chain(self, points, color, thick=1.0, dashes=()):
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        pieces = dashed(scaled, [d * SCALE for d in dashes]) if dashes else zip(scaled, scaled[1:])
        for a, b in pieces:
            self.segment(a, b, thick * SCALE / 2, rgb(color))

    def disc(self, x, y, radius, color):
        self.segment((x * SCALE, y * SCALE), (x * SCALE, y * SCALE), radius * SCALE, rgb(color))

    def area(self, points, color, opacity):
        corners = [(x * SCALE, y * SCALE) for x, y in points]
        for y in range(self.height):
            cuts = sorted(ax + (y - ay) * (bx - ax) / (by - ay)
                          for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]) if (ay <= y) != (by <= y))
            for low, high in zip(cuts[::2], cuts[1::2]):
                for x in range(math.ceil(low), math.floor(high) + 1):
                    self.blend(x, y, rgb(color), opacity)

    def text(self, x, y, text, size, color="#222222", align="left", upwards=False):
        unit = size * LETTER_HEIGHT / glyphs.UNITS_HIGH
        shift = {"left": 0, "middle": 0.5, "right": 1}[align] * glyphs.width(text)
        for stroke in glyphs.strokes(text):
            places = []
            for gx, gy in stroke:
                along, up = (gx - shift) * unit, gy * unit
                places.append(((x - up) * SCALE, (y - along) * SCALE) if upwards else ((x + along) * SCALE, (y - up) * SCALE))
            for a, b in zip(places, places[1:]):
                self.segment(a, b, size * SCALE * 0.045, rgb(color))

    def save(self, path):
        def part(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        pixels = b"".join(b"\0" + bytes(row) for row in self.rows)
        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)) +
                       part(b"IDAT", zlib.compress(pixels, 9)) + part(b"IEND", b""))


def dashed(points, dashes):
    """The visible segments of a chain; dashes are alternating lengths, drawn and left out."""
    index, left = 0, dashes[0]
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        length, at = math.hypot(bx - ax, by - ay), 0.0
        while at < length:
            step = min(left, length - at)
            if index % 2 == 0:
                yield ((ax + (bx - ax) * at / length, ay + (by - ay) * at / length),
                       (ax + (bx - ax) * (at + step) / length, ay + (by - ay) * (at + step) / length))
            at, left = at + step, left - step
            if left <= 1e-9:
                index += 1
                left = dashes[index % len(dashes)]
